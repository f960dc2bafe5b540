"""The JSON exchange format of benchmarks: read with every value checked, errors name the file and the decision's key.

A file is ``{"meta": {...}, "decisions": [...]}``, plain or gzipped. Boards are 26 integers from the mover's side (see
``raccoon.env.board26``); candidate boards keep that side.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, Cubes, RaccoonError
from raccoon.env.board import swap
from raccoon.env.board26 import from_board26, to_board26
from raccoon.env.codec import row_keys
from raccoon.env.movegen import afterstates
from raccoon.eval.benchmark import Benchmark, CheckerDecisions, CubeDecisions

__all__ = ["key_order", "parse", "read"]

_OWNERS = {"centered": CENTRED, "player": OWNED, "opponent": OPPONENT}
# Rollouts with variance reduction report corrected means: a rare outcome may come back slightly negative.
_SLACK = 0.02


def read(path: str | Path, source: str | None = None) -> Benchmark:
    """Read and check a file. Raises RaccoonError naming the file, the decision and the field."""
    source = source or str(path)
    try:
        raw = Path(path).read_bytes()
        data = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise RaccoonError(f"{source}: not a benchmark, or cut short ({error}); give a compact or a JSON benchmark file") from error
    return parse(data, source)


def parse(data: Any, source: str) -> Benchmark:
    """A benchmark from parsed JSON; see ``read``."""
    if not isinstance(data, dict) or not isinstance(data.get("decisions"), list) or not isinstance(data.get("meta", {}), dict):
        raise RaccoonError(f"{source}: not a benchmark: an object with 'meta' and a list 'decisions' is expected")
    rows = [_Row(row, f"{source}: decision {number}", source) for number, row in enumerate(data["decisions"])]
    kinds = [row.choice("kind", ("checker", "cube")) for row in rows]
    checker = _checker([row for row, kind in zip(rows, kinds, strict=True) if kind == "checker"], source)
    cube = _cube([row for row, kind in zip(rows, kinds, strict=True) if kind == "cube"])
    keys = np.concatenate([checker.keys, cube.keys])
    unique, counts = np.unique(keys, return_counts=True)
    if (counts > 1).any():
        raise RaccoonError(f"{source}: decision {unique[counts > 1][0]}: key appears {counts.max()} times; keys must be distinct")
    return Benchmark(source, data.get("meta", {}), checker, cube)


class _Row:
    """Typed access to one JSON object; errors say where."""

    def __init__(self, data: Any, where: str, source: str) -> None:
        self.where = where
        if not isinstance(data, dict):
            raise RaccoonError(f"{where}: an object is expected, not {type(data).__name__}")
        if isinstance(data.get("key"), str):
            self.where = f"{source}: decision {data['key'][:80]}"
        self.data: Mapping[str, Any] = data

    def fail(self, name: str, wanted: str) -> RaccoonError:
        return RaccoonError(f"{self.where}: {name}={quoted(self.data.get(name))}: {wanted} is expected")

    def text(self, name: str) -> str:
        value = self.data.get(name)
        if not isinstance(value, str) or not value:
            raise self.fail(name, "a text")
        return value

    def choice(self, name: str, options: Sequence[str]) -> str:
        value = self.data.get(name)
        if not isinstance(value, str) or value not in options:
            raise self.fail(name, f"one of {', '.join(options)}")
        return value

    def whole(self, name: str, low: int, high: int) -> int:
        value = self.data.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fail(name, f"a whole number from {low} to {high}")
        return value

    def flag(self, name: str) -> bool:
        value = self.data.get(name)
        if not isinstance(value, bool):
            raise self.fail(name, "true or false")
        return value

    def number(self, name: str, limit: float) -> float:
        value = self.data.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= limit:
            raise self.fail(name, f"a number within ±{limit:g}")
        return float(value)

    def won_by_passing(self) -> float:
        value = self.number("equity_dp", 100)
        if abs(value - 1.0) > 1e-6:
            raise self.fail("equity_dp", "1, what a pass is worth in a money game,")
        return value

    def probs(self) -> list[Any]:
        value = self.numbers("probs", 5, -_SLACK, 1 + _SLACK)
        win, win_g, win_bg, lose_g, lose_bg = value
        if max(win_g - win, win_bg - win_g, lose_g - (1 - win), lose_bg - lose_g) > _SLACK:
            raise self.fail("probs", "win, win gammon or more, win backgammon, lose gammon or more, lose backgammon")
        return value

    def numbers(self, name: str, count: int, low: float, high: float, whole: bool = False) -> list[Any]:
        value = self.data.get(name)
        kinds = int if whole else (int, float)
        if not isinstance(value, list) or len(value) != count:
            raise self.fail(name, f"a list of {count} numbers")
        if not all(isinstance(v, kinds) and not isinstance(v, bool) and low <= v <= high for v in value):
            raise self.fail(name, f"{'whole ' if whole else ''}numbers from {low:g} to {high:g}")
        return value

    def board(self, name: str = "board") -> list[int]:
        value = self.numbers(name, 26, -15, 15, whole=True)
        mine = sum(v for v in value[1:] if v > 0)
        theirs = value[0] - sum(v for v in value[1:25] if v < 0)
        if value[0] < 0 or value[25] < 0 or mine > 15 or theirs > 15:
            raise self.fail(name, "at most 15 checkers a side and no negative bar")
        return value

    def cube(self) -> tuple[int, int]:
        value = self.whole("cube_value", 1, 1 << 20)
        if value & (value - 1):
            raise self.fail("cube_value", "a power of two")
        return value, _OWNERS[self.choice("cube_owner", tuple(_OWNERS))]


def _common(rows: Sequence[_Row]) -> dict[str, Any]:
    cubes = np.array([row.cube() for row in rows], np.int64).reshape(-1, 2)
    return {
        "keys": np.array([row.text("key") for row in rows], np.str_),
        "games": np.array([row.whole("seed", 0, 2**63 - 1) for row in rows], np.int64),
        "turn": np.array([row.whole("turn", 0, 2**31 - 1) for row in rows], np.int32),
        "tiers": np.array([row.text("tier") for row in rows], np.str_),
        "plans": np.array([row.text("game_plan") for row in rows], np.str_),
        "boards": from_board26(np.array([row.board() for row in rows], np.int16)),
        "cubes": Cubes(cubes[:, 0].astype(np.int32), cubes[:, 1].astype(np.int8)),
    }


def _checker(rows: Sequence[_Row], source: str) -> CheckerDecisions:
    moves: list[_Row] = []
    counts = []
    for row in rows:
        listed = row.data.get("moves")
        if not isinstance(listed, list) or not listed:
            raise row.fail("moves", "a list of at least one candidate")
        moves.extend(_Row(move, f"{row.where}: moves[{number}]", source) for number, move in enumerate(listed))
        counts.append(len(listed))
    common = _common(rows)
    dice = np.array([row.numbers("dice", 2, 1, 6, whole=True) for row in rows], np.int8).reshape(-1, 2)
    children = swap(from_board26(np.array([move.board() for move in moves], np.int16)))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = key_order(children, offsets)
    errors = [np.nan if move.data.get("std_error") is None else move.number("std_error", 10) for move in moves]
    checker = CheckerDecisions(
        **common,
        dice=dice,
        offsets=offsets,
        children=children[order],
        equity=np.array([move.number("equity", 100) for move in moves], np.float64)[order],
        cubeless=np.array([move.number("cubeless_equity", 3 + _SLACK) for move in moves], np.float64)[order],
        probs5=_probs(moves)[order],
        std_error=np.array(errors, np.float64)[order],
        levels=np.array([move.text("eval_level") for move in moves], np.str_)[order],
    )
    _check_legal(checker, source)
    return checker


def _cube(rows: Sequence[_Row]) -> CubeDecisions:
    return CubeDecisions(
        **_common(rows),
        no_double=np.array([row.number("equity_nd", 100) for row in rows], np.float64),
        double_take=np.array([row.number("equity_dt", 100) for row in rows], np.float64),
        double_pass=np.array([row.won_by_passing() for row in rows], np.float64),
        probs5=_probs(rows),
        has_double=np.array([row.flag("has_double") for row in rows], np.bool_),
        has_take=np.array([row.flag("has_take") for row in rows], np.bool_),
        levels=np.array([row.text("eval_level") for row in rows], np.str_),
    )


def _probs(rows: Sequence[_Row]) -> NDArray[np.float64]:
    return np.array([row.probs() for row in rows], np.float64).reshape(-1, 5)


def key_order(children: Boards, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[M]``: candidates of each row in ascending position-key order."""
    return np.argsort(row_keys(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), children), kind="stable")


def _check_legal(checker: CheckerDecisions, source: str) -> None:
    """Every candidate must be a legal result of its roll, listed once."""
    if not len(checker):
        return
    try:
        legal, bounds = afterstates(checker.boards, checker.dice)
    except ValueError as error:
        raise RaccoonError(f"{source}: a checker decision cannot be played: {error}") from error
    rows = checker.rows_of_candidates()
    listed = row_keys(rows, checker.children)
    fault = ~np.isin(listed, row_keys(np.repeat(np.arange(len(checker)), np.diff(bounds)), legal))
    fault[1:] |= listed[1:] == listed[:-1]  # candidates are in key order: equal ones are neighbours
    if fault.any():
        at = int(np.flatnonzero(fault)[0])
        row, board = rows[at], checker.children[at]
        raise RaccoonError(
            f"{source}: decision {checker.keys[row]}: candidate {to_board26(swap(board[None]))[0].tolist()} "
            f"is listed twice or is no legal result of {checker.dice[row].tolist()}"
        )

"""The JSON exchange format of benchmarks: read with every value checked, errors name the file and the decision's key.

A file is ``{"meta": {...}, "decisions": [...]}``, plain or gzipped. Boards are 26 integers from the mover's side (see
``raccoon.env.formats.board26``); candidate boards keep that side.
"""

from __future__ import annotations

import errno
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, Cubes, RaccoonError
from raccoon.cube_rules import OWNER_NAMES
from raccoon.env import ragged
from raccoon.env.board import swap
from raccoon.env.formats.board26 import from_board26
from raccoon.env.position_ids import row_keys
from raccoon.eval.benchmark.check import LONGEST_TEXT, check_boards, checked
from raccoon.eval.benchmark.decisions import Benchmark, CheckerDecisions, CubeDecisions
from raccoon.files import parse_json, read_regular

__all__ = ["key_order", "parse", "read"]

_OWNERS = {name: code for code, name in OWNER_NAMES.items()}
_LARGEST, _BYTE = 1e9, 128  # of numbers that a column holds
_MOST = 1 << 30  # bytes of a file that is unpacked


def read(path: str | Path, source: str | None = None) -> Benchmark:
    """Read and check a file. Raises RaccoonError naming the file, the decision and the field."""
    source = source or str(path)
    try:
        raw = read_regular(path, _MOST)
        data = parse_json(_unpacked(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (OSError, EOFError, zlib.error, ValueError, MemoryError) as error:
        raise RaccoonError(f"{source}: not a benchmark, or cut short ({error}); give a compact or a JSON benchmark file") from error
    return parse(data, source)


def _unpacked(raw: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as handle:
        data = handle.read(_MOST + 1)
    if len(data) > _MOST:
        raise OSError(errno.EFBIG, f"more than {_MOST:,} bytes")
    return data


def parse(data: Any, source: str) -> Benchmark:
    """A benchmark from parsed JSON; see ``read``."""
    if not isinstance(data, dict) or not isinstance(data.get("decisions"), list) or not isinstance(data.get("meta", {}), dict):
        raise RaccoonError(f"{source}: not a benchmark: an object with 'meta' and a list 'decisions' is expected")
    rows = [_Row(row, f"{source}: decision {number}", source) for number, row in enumerate(data["decisions"])]
    kinds = [row.choice("kind", ("checker", "cube")) for row in rows]
    checker = _checker([row for row, kind in zip(rows, kinds, strict=True) if kind == "checker"], source)
    cube = _cube([row for row, kind in zip(rows, kinds, strict=True) if kind == "cube"])
    return checked(Benchmark(source, data.get("meta", {}), checker, cube))


class _Row:
    """Typed access to one JSON object; errors say where."""

    def __init__(self, data: Any, where: str, source: str) -> None:
        self.where = where
        if not isinstance(data, dict):
            raise RaccoonError(f"{where}: an object is expected, not {type(data).__name__}")
        if isinstance(data.get("key"), str):
            self.where = f"{source}: decision {quoted(data['key'])[1:-1]}"
        self.data: Mapping[str, Any] = data

    def fail(self, name: str, wanted: str) -> RaccoonError:
        return RaccoonError(f"{self.where}: {name}={quoted(self.data.get(name))}: {wanted} is expected")

    def text(self, name: str) -> str:
        value = self.data.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT:
            raise self.fail(name, f"a text of at most {LONGEST_TEXT} characters")
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

    def number(self, name: str) -> float:
        return float(self._finite(name, self.data.get(name)))

    def _finite(self, name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LARGEST:
            raise self.fail(name, "a number")
        return value

    def numbers(self, name: str, count: int) -> list[float]:
        value = self.data.get(name)
        if not isinstance(value, list) or len(value) != count:
            raise self.fail(name, f"a list of {count} numbers")
        return [self._finite(name, one) for one in value]

    def wholes(self, name: str, count: int) -> list[int]:
        value = self.numbers(name, count)
        if not all(isinstance(one, int) and abs(one) < _BYTE for one in value):
            raise self.fail(name, "a list of small whole numbers")
        return [int(one) for one in value]

    def cube(self) -> tuple[int, int]:
        return self.whole("cube_value", 1, 2**31 - 1), _OWNERS[self.choice("cube_owner", tuple(_OWNERS))]


def _common(rows: Sequence[_Row]) -> dict[str, Any]:
    cubes = np.array([row.cube() for row in rows], np.int64).reshape(-1, 2)
    return {
        "keys": np.array([row.text("key") for row in rows], np.str_),
        "games": np.array([row.whole("seed", 0, 2**63 - 1) for row in rows], np.int64),
        "turn": np.array([row.whole("turn", 0, 2**31 - 1) for row in rows], np.int32),
        "tiers": np.array([row.text("tier") for row in rows], np.str_),
        "plans": np.array([row.text("game_plan") for row in rows], np.str_),
        "boards": from_board26(np.array([row.wholes("board", 26) for row in rows], np.int16)),
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
    dice = np.array([row.wholes("dice", 2) for row in rows], np.int8).reshape(-1, 2)
    children = swap(from_board26(np.array([move.wholes("board", 26) for move in moves], np.int16)))
    offsets = ragged.offsets_of(np.array(counts, np.int64))
    check_boards(children, np.repeat(common["keys"], counts), source, "candidate")
    order = key_order(children, offsets)
    return CheckerDecisions(
        **common,
        dice=dice,
        offsets=offsets,
        children=children[order],
        equity=np.array([move.number("equity") for move in moves], np.float64)[order],
        cubeless=np.array([move.number("cubeless_equity") for move in moves], np.float64)[order],
        probs5=_probs(moves)[order],
        std_error=_errors(moves, "std_error")[order],
        difference_se=_errors(moves, "difference_se")[order],
        levels=np.array([move.text("eval_level") for move in moves], np.str_)[order],
    )


def _cube(rows: Sequence[_Row]) -> CubeDecisions:
    return CubeDecisions(
        **_common(rows),
        no_double=np.array([row.number("equity_nd") for row in rows], np.float64),
        double_take=np.array([row.number("equity_dt") for row in rows], np.float64),
        double_pass=np.array([row.number("equity_dp") for row in rows], np.float64),
        probs5=_probs(rows),
        has_double=np.array([row.flag("has_double") for row in rows], np.bool_),
        has_take=np.array([row.flag("has_take") for row in rows], np.bool_),
        levels=np.array([row.text("eval_level") for row in rows], np.str_),
        no_double_se=_errors(rows, "equity_nd_se"),
        double_take_se=_errors(rows, "equity_dt_se"),
        difference_se=_errors(rows, "difference_se"),
    )


def _errors(rows: Sequence[_Row], name: str) -> NDArray[np.float64]:
    """``float64[N]``: standard errors, NaN where a row has none."""
    return np.array([np.nan if row.data.get(name) is None else row.number(name) for row in rows], np.float64)


def _probs(rows: Sequence[_Row]) -> NDArray[np.float64]:
    return np.array([row.numbers("probs", 5) for row in rows], np.float64).reshape(-1, 5)


def key_order(children: Boards, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[M]``: candidates of each row in ascending position-key order."""
    return np.argsort(row_keys(ragged.row_of(offsets), children), kind="stable")

"""What every benchmark must be, whatever kind of file it was read from: the one check, over its columns.

Faults are named as in the JSON exchange format (``equity_nd``, ``cube_value``), with the source and the key of the decision.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.outcomes import nested
from raccoon.env import ragged
from raccoon.env.board import as_boards, swap, terminal_points, validate
from raccoon.env.formats.board26 import to_board26
from raccoon.env.movegen import afterstates
from raccoon.env.position_ids import row_keys
from raccoon.eval.benchmark.decisions import Benchmark, CheckerDecisions, CubeDecisions

__all__ = ["LONGEST_TEXT", "check_boards", "checked"]

LONGEST_TEXT = 200
_SLACK = 0.02  # rollouts with variance reduction report corrected means: a rare outcome may come back slightly negative
_MOST_EQUITY, _MOST_ERROR, _MOST_CUBE = 100.0, 10.0, 1 << 20
_TEXTS = {"keys": "key", "tiers": "tier", "plans": "game_plan", "levels": "eval_level"}
_NUMBERS: dict[str, tuple[str, type, tuple[int, ...]]] = {
    "games": ("seed", np.int64, ()),
    "turn": ("turn", np.int32, ()),
    "dice": ("dice", np.int8, (2,)),
    "equity": ("equity", np.float64, ()),
    "cubeless": ("cubeless_equity", np.float64, ()),
    "probs5": ("probs", np.float64, (5,)),
    "std_error": ("std_error", np.float64, ()),
    "difference_se": ("difference_se", np.float64, ()),
    "no_double_se": ("equity_nd_se", np.float64, ()),
    "double_take_se": ("equity_dt_se", np.float64, ()),
    "no_double": ("equity_nd", np.float64, ()),
    "double_take": ("equity_dt", np.float64, ()),
    "double_pass": ("equity_dp", np.float64, ()),
    "has_double": ("has_double", np.bool_, ()),
    "has_take": ("has_take", np.bool_, ()),
}
_ERRORS = ("std_error", "difference_se", "no_double_se", "double_take_se")
_OF_CANDIDATES = frozenset({"equity", "cubeless", "probs5", "std_error", "difference_se", "levels"})


def checked(benchmark: Benchmark) -> Benchmark:
    """``benchmark`` as it is. Raises RaccoonError naming the source, the decision at fault and what is expected."""
    source = benchmark.source
    try:
        json.dumps(dict(benchmark.meta), ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RaccoonError(f"{source}: meta is no plain text, numbers and lists ({quoted(str(error))})") from error
    for part in (benchmark.checker, benchmark.cube):
        _check_columns(part, source)
        _check_values(part, source)
    _check_plays(benchmark.checker, source)
    keys, counts = np.unique(np.concatenate([benchmark.checker.keys, benchmark.cube.keys]), return_counts=True)
    if (counts > 1).any():
        raise RaccoonError(f"{source}: decision {keys[counts > 1][0]}: key appears {counts.max()} times; keys must be distinct")
    return benchmark


def _check_columns(part: CheckerDecisions | CubeDecisions, source: str) -> None:
    """Are the columns of one length and of their types, and do the offsets fit the candidates?"""
    checker = isinstance(part, CheckerDecisions)
    rows = len(part.keys)
    candidates = len(part.children) if checker else rows
    if checker:
        offsets = np.asarray(part.offsets)
        steps = np.diff(offsets) if offsets.dtype == np.int64 and offsets.ndim == 1 else np.zeros(1)
        if len(steps) != rows or offsets[0] != 0 or offsets[-1] != candidates or (rows and steps.min() < 1):
            raise RaccoonError(f"{source}: the candidates do not fit the decisions: at least one each, and no others")
    for name in (*_TEXTS, *_NUMBERS):
        column = getattr(part, name, None)
        if column is None:
            continue
        wanted, shape = (None, ()) if name in _TEXTS else _NUMBERS[name][1:]
        length = candidates if checker and name in _OF_CANDIDATES else rows
        typed = column.dtype.kind == "U" if wanted is None else column.dtype == wanted
        if not typed or column.shape != (length, *shape):
            raise RaccoonError(f"{source}: column {name} is {column.dtype}{list(column.shape)} for {length} rows")
    for column, kind in ((part.cubes.value, np.int32), (part.cubes.owner, np.int8)):
        if column.dtype != kind or column.shape != (rows,):
            raise RaccoonError(f"{source}: the cubes are {column.dtype}{list(column.shape)} for {rows} rows")


def _check_values(part: CheckerDecisions | CubeDecisions, source: str) -> None:
    for name, field in _TEXTS.items():
        _check_texts(getattr(part, name), field, source)
    fault = _Faults(part, source)
    fault("seed", part.games, part.games < 0, "a whole number of 0 or more")
    fault("turn", part.turn, part.turn < 0, "a whole number of 0 or more")
    value, owner = part.cubes.value, part.cubes.owner
    fault("cube_value", value, (value < 1) | (value > _MOST_CUBE) | (value & (value - 1) != 0), "a power of two")
    fault("cube_owner", owner, (owner < -1) | (owner > 1), "centered, player or opponent")
    check_boards(part.boards, part.keys, source)
    fault("board", to_board26(part.boards), terminal_points(part.boards) != 0, "a game that goes on, not a finished one,")
    for name, limit in (("equity", _MOST_EQUITY), ("cubeless", 3 + _SLACK), ("no_double", _MOST_EQUITY), ("double_take", _MOST_EQUITY)):
        if hasattr(part, name):
            column = getattr(part, name)
            fault(_NUMBERS[name][0], column, ~(np.abs(column) <= limit), f"a number within ±{limit:g}")
    five = "win, win gammon or more, win backgammon, lose gammon or more, lose backgammon"
    fault("probs", part.probs5, ~nested(part.probs5, _SLACK), five)
    for name in _ERRORS:
        if hasattr(part, name):
            error = getattr(part, name)
            wrong = ~(np.isnan(error) | ((error >= 0) & (error <= _MOST_ERROR)))
            fault(_NUMBERS[name][0], error, wrong, f"a number from 0 to {_MOST_ERROR:g}")
    if isinstance(part, CubeDecisions):
        passed = part.double_pass
        fault("equity_dp", passed, ~(np.abs(passed - 1.0) <= 1e-6), "1, what a pass is worth in a money game,")
        return
    dice = part.dice
    fault("dice", dice, ((dice < 1) | (dice > 6)).any(axis=1), "two numbers from 1 to 6")


class _Faults:
    """Raises for the first value of a column, of decisions or of candidates, that is wrong."""

    def __init__(self, part: CheckerDecisions | CubeDecisions, source: str) -> None:
        self.part, self.source = part, source

    def __call__(self, field: str, column: NDArray[Any], wrong: Any, wanted: str) -> None:
        if not wrong.any():
            return
        at = int(np.argmax(wrong))
        of_candidates = field in {_NUMBERS[name][0] for name in _OF_CANDIDATES & _NUMBERS.keys()}
        part, value = self.part, column[at].tolist()
        row = int(part.rows_of_candidates()[at]) if isinstance(part, CheckerDecisions) and of_candidates else at
        raise RaccoonError(f"{self.source}: decision {part.keys[row]}: {field}={quoted(value)}: {wanted} is expected")


def _check_texts(column: NDArray[np.str_], field: str, source: str) -> None:
    for text in np.unique(column).tolist():
        if not 0 < len(text) <= LONGEST_TEXT or not text.isprintable():
            raise RaccoonError(f"{source}: {field}={quoted(text)}: a text of 1 to {LONGEST_TEXT} printable characters is expected")


def check_boards(boards: Boards, keys: NDArray[np.str_], source: str, what: str = "board") -> None:
    """Are they boards, one for each of ``keys``? Checked together; only where there is a fault, one by one to name it."""
    if as_boards(boards, f"{source}: {what}").shape[0] != len(keys):
        raise RaccoonError(f"{source}: {len(boards)} boards for {len(keys)} decisions")
    try:
        validate(boards)
    except RaccoonError:
        for row, key in enumerate(keys):
            validate(boards[row : row + 1], f"{source}: decision {key}: {what}")


def _check_plays(checker: CheckerDecisions, source: str) -> None:
    """Every candidate must be a legal result of its roll, listed once, and in key order within its decision."""
    if not len(checker):
        return
    rows = checker.rows_of_candidates()
    check_boards(checker.children, checker.keys[rows], source, "candidate")
    legal, bounds = afterstates(checker.boards, checker.dice)
    listed = row_keys(rows, checker.children)
    fault = ~np.isin(listed, row_keys(ragged.row_of(bounds), legal))
    fault[1:] |= listed[1:] <= listed[:-1]  # in key order, equal ones are neighbours
    if fault.any():
        at = int(np.flatnonzero(fault)[0])
        row, board = rows[at], checker.children[at]
        raise RaccoonError(
            f"{source}: decision {checker.keys[row]}: candidate {to_board26(swap(board[None]))[0].tolist()} "
            f"is listed twice or is no legal result of {checker.dice[row].tolist()}"
        )

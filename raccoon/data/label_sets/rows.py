"""One labelled position in 28 bytes: the row of the packed store, and how it is written and read.

The position is its 80-bit GNUBG key; the label is the cumulative five ``(win, win_g+, win_bg, lose_g+, lose_bg)`` of
the side on roll as 16-bit fixed point, ``round(65535 p)``: the error of a probability is at most 0.5 / 65535 = 7.7e-6.
Rounding keeps the order win >= win_g >= win_bg, so six exclusive outcomes can be taken from five after clipping at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.outcomes import nested, six_from_five
from raccoon.env import position_ids
from raccoon.env.board import terminal_points

__all__ = ["IMPORTED", "ROW", "SELFPLAY", "SIBLING", "check_boards", "check_labels", "check_rows", "pack", "unpack5", "unpack6"]

SELFPLAY, SIBLING, IMPORTED = 0, 1, 2
"""Provenance: met in a game, another afterstate of a turn that was played, read from somebody's file."""

ROW = np.dtype(
    [
        ("key", "u1", (10,)),
        ("probs", "<u2", (5,)),
        ("game", "<u4"),
        ("turn", "<u2"),
        ("provenance", "u1"),
        ("spare", "u1"),
    ]
)
"""28 bytes. ``game`` counts within the set and is what is held out; ``turn`` is the number of rolls before the position."""

_SCALE = 65535.0
_SLACK = 0.02  # teachers that roll out or look ahead with corrections


def pack(boards: Boards, probs5: NDArray[Any], game: NDArray[Any], turn: NDArray[Any], provenance: NDArray[Any] | int) -> NDArray[np.void]:
    """``ROW[N]`` of unfinished pre-roll ``boards`` and cumulative ``probs5 [N, 5]``, side on roll.

    Raises RaccoonError when a label is no probability (NaN, below 0 or above 1 by more than 1e-4).
    """
    probs5 = np.asarray(probs5, np.float64)
    wrong = ~((probs5 > -1e-4) & (probs5 < 1 + 1e-4)).all(axis=1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise RaccoonError(f"label {probs5[row].tolist()} of row {row}: not five probabilities; look at the teacher")
    rows = np.zeros(len(boards), ROW)
    rows["key"] = position_ids.position_keys(np.ascontiguousarray(boards, np.int8))
    rows["probs"] = np.rint(np.clip(probs5, 0.0, 1.0) * _SCALE).astype(np.uint16)
    rows["game"] = game
    rows["turn"] = np.minimum(turn, 65535)
    rows["provenance"] = provenance
    return rows


def unpack5(rows: NDArray[np.void]) -> tuple[Boards, NDArray[np.float32]]:
    """Boards ``int8[N, 2, 25]`` and cumulative ``float32[N, 5]`` of ``rows``. Raises RaccoonError on a broken key."""
    return _boards(rows), (rows["probs"] / np.float32(_SCALE)).astype(np.float32, copy=False)


def unpack6(rows: NDArray[np.void]) -> tuple[Boards, NDArray[np.float32]]:
    """Boards ``int8[N, 2, 25]`` and exclusive ``float32[N, 6]`` of ``rows``. Raises RaccoonError on a broken key."""
    return _boards(rows), six_from_five(rows["probs"] / _SCALE).astype(np.float32)


def check_rows(rows: NDArray[np.void]) -> None:
    """Raise RaccoonError naming the first of ``rows`` that ``pack`` cannot have written: what can be told without a digest."""
    check_boards(rows)
    check_labels(rows)
    wrong = np.flatnonzero((rows["provenance"] > IMPORTED) | (rows["spare"] != 0))
    if len(wrong):
        raise RaccoonError(f"row {wrong[0]} has an unknown origin (provenance {rows['provenance'][wrong[0]]})")


def check_boards(rows: NDArray[np.void]) -> None:
    """Raise RaccoonError naming the first row whose key is no position of a game that goes on."""
    over = np.flatnonzero(terminal_points(position_ids.from_position_keys(rows["key"])))
    if len(over):
        raise RaccoonError(f"row {over[0]} is a finished game")


def check_labels(rows: NDArray[np.void]) -> None:
    """Raise RaccoonError naming the first row whose label is not nested: a backgammon is a gammon, and that a win."""
    probs5 = rows["probs"] / _SCALE
    wrong = np.flatnonzero(~nested(probs5, _SLACK))
    if len(wrong):
        raise RaccoonError(f"row {wrong[0]}: {probs5[wrong[0]].round(4).tolist()} are not nested probabilities")


def _boards(rows: NDArray[np.void]) -> Boards:
    try:
        return position_ids.from_position_keys(rows["key"])
    except RaccoonError as error:
        raise RaccoonError(f"labelled positions: {error}; the data was changed after it was written, generate it again") from error

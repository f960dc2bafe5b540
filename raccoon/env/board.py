"""Boards and what can be read off them: validity, pips, contact, the end of the game.

``Boards`` is ``int8[N, 2, 25]``: slot 1 is the side on roll, slot 0 the other side, each in its own numbering (index
``i`` is its point ``i + 1``, index 24 its bar); checkers borne off are implied. Index ``i`` of one side and index
``23 - i`` of the other are the same point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.env.kernels import kernel

__all__ = ["START", "as_array", "as_board", "as_boards", "check", "is_race", "pips", "swap", "terminal_points", "unfinished", "validate"]


def _start() -> Boards:
    board = np.zeros((2, 25), np.int8)
    board[:, [23, 12, 7, 5]] = [2, 5, 3, 5]
    board.setflags(write=False)
    return board


START: Boards = _start()
"""``int8[2, 25]``: the opening position (read-only)."""

_FAULTS = (
    "",
    "a negative number of checkers",
    "more than 15 checkers on one side",
    "both sides on one point",
)


@kernel
def _first_fault(boards: NDArray[np.int8]) -> tuple[int, int]:
    """Row and fault number (index into ``_FAULTS``) of the first bad board; (-1, 0) when all are fine."""
    for row in range(boards.shape[0]):
        for slot in range(2):
            total = 0
            for i in range(25):
                n = boards[row, slot, i]
                if n < 0:
                    return row, 1
                total += n
            if total > 15:
                return row, 2
        for i in range(24):
            if boards[row, 0, i] > 0 and boards[row, 1, 23 - i] > 0:
                return row, 3
    return -1, 0


@kernel
def _pips(boards: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    for row in range(boards.shape[0]):
        for slot in range(2):
            total = 0
            for i in range(25):
                total += boards[row, slot, i] * (i + 1)
            out[row, slot] = total


@kernel
def _races(boards: NDArray[np.int8], out: NDArray[np.bool_]) -> None:
    for row in range(boards.shape[0]):
        rear0, rear1 = 24, 24
        while rear0 >= 0 and boards[row, 0, rear0] == 0:
            rear0 -= 1
        while rear1 >= 0 and boards[row, 1, rear1] == 0:
            rear1 -= 1
        # the other side's rearmost checker stands on my index 23 - rear0; a side with nothing left has no contact
        out[row] = rear0 < 0 or rear1 < 0 or rear0 + rear1 < 23


@kernel
def _terminal(boards: NDArray[np.int8], out: NDArray[np.int8]) -> None:
    for row in range(boards.shape[0]):
        left0, left1 = 0, 0
        for i in range(25):
            left0 += boards[row, 0, i]
            left1 += boards[row, 1, i]
        if left0 > 0 and left1 > 0:
            out[row] = 0
            continue
        loser = 1 if left0 == 0 else 0
        points = 1
        if (left1 if loser == 1 else left0) == 15:
            points = 2
            for i in range(18, 25):
                if boards[row, loser, i] > 0:
                    points = 3
        out[row] = -points if loser == 1 else points


def as_array(numbers: ArrayLike, what: str) -> NDArray[Any]:
    """``numbers`` as an array. Raises RaccoonError when they form none (rows of unequal length)."""
    try:
        return np.asarray(numbers)
    except ValueError as error:
        raise RaccoonError(f"{what}: no array ({error})") from error


def as_board(board: ArrayLike, what: str = "board") -> Boards:
    """One valid board as ``int8[2, 25]``. Raises RaccoonError naming the fault."""
    array = as_array(board, what)
    if array.shape != (2, 25):
        raise RaccoonError(f"{what}: shape {array.shape} instead of (2, 25)")
    boards = as_boards(array[None], what)
    check(boards, what)
    return boards[0]


def as_boards(boards: ArrayLike, what: str = "boards") -> Boards:
    """``boards`` as a contiguous ``int8[N, 2, 25]`` (copied only when needed); the contents are not checked.

    Raises RaccoonError when the shape is another or the numbers are not integers that fit.
    """
    array = as_array(boards, what)
    if array.ndim != 3 or array.shape[1:] != (2, 25):
        raise RaccoonError(f"{what}: shape {array.shape} instead of (N, 2, 25); a single board goes in as board[None]")
    if array.dtype != np.int8:
        if array.dtype.kind not in "iu":
            raise RaccoonError(f"{what}: numbers of type {array.dtype} instead of integers (int8)")
        if array.size and (array.min() < -128 or array.max() > 127):
            raise RaccoonError(f"{what}: numbers outside 0..15 (from {array.min()} to {array.max()})")
        array = array.astype(np.int8)
    return np.ascontiguousarray(array)


def validate(boards: ArrayLike, what: str = "boards") -> None:
    """Check ``[N, 2, 25]`` boards: 0..15 checkers a side, none negative, no point held by both sides, not both sides borne off.

    Raises RaccoonError (a ValueError) naming the first bad row and its fault. ``what`` names the input in the message.
    """
    array = as_boards(boards, what)
    check(array, what)
    empty = np.flatnonzero(~array.any(axis=(1, 2)))
    if len(empty):
        raise RaccoonError(f"{what}: row {empty[0]} has no checkers on either side")


def check(boards: Boards, what: str = "boards") -> None:
    """``validate`` for boards that already are contiguous ``int8[N, 2, 25]``; lets boards without checkers pass."""
    row, fault = _first_fault(boards)
    if row >= 0:
        detail = f"slot 0 {boards[row, 0].tolist()}, slot 1 {boards[row, 1].tolist()}"
        raise RaccoonError(f"{what}: row {row} has {_FAULTS[fault]}: {detail}")


def unfinished(boards: ArrayLike) -> Boards:
    """``boards`` as contiguous ``int8[N, 2, 25]``. Raises RaccoonError naming the row of a bad board or a finished game."""
    array = as_boards(boards)
    check(array)
    over = np.flatnonzero(terminal_points(array))
    if len(over):
        raise RaccoonError(f"boards: row {over[0]} is a finished game; there is nothing to play")
    return array


def swap(boards: Boards) -> Boards:
    """The same boards seen from the other side (slots exchanged; each side keeps its own numbering). Returns a copy.

    Takes ``[..., 2, 25]`` of any type. Raises RaccoonError for another shape.
    """
    array = np.asarray(boards)
    if array.shape[-2:] != (2, 25):
        raise RaccoonError(f"boards: shape {array.shape} instead of (.., 2, 25)")
    return np.ascontiguousarray(array[..., ::-1, :])


def pips(boards: ArrayLike) -> NDArray[np.int32]:
    """``int32[N, 2]`` pip counts in slot order (bar = 25)."""
    array = as_boards(boards)
    out = np.empty((len(array), 2), np.int32)
    _pips(array, out)
    return out


def is_race(boards: ArrayLike) -> NDArray[np.bool_]:
    """``bool[N]``: no checker of either side has to pass one of the other; also true once a side has nothing left."""
    array = as_boards(boards)
    out = np.empty(len(array), np.bool_)
    _races(array, out)
    return out


def terminal_points(boards: ArrayLike) -> NDArray[np.int8]:
    """``int8[N]``: 0 while the game is on, else its points to the side in slot 1.

    -1, -2, -3 when slot 0 has borne off all (slot 1 lost a single game, a gammon with nothing off, a backgammon with
    nothing off and a checker on its bar or in the winner's home, its own points 19..24); positive when slot 1 has.
    """
    array = as_boards(boards)
    out = np.empty(len(array), np.int8)
    _terminal(array, out)
    return out

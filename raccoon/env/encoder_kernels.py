"""Numba kernels of the encoder: one pass over the boards, counts and sums in integers, one division a number.

Every division is a single-precision division of two integers that are exact in float32, so any other IEEE
implementation (the torch twin, on any device) gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.env.kernels import kernel
from raccoon.env.tactics import fill_tactics

__all__ = ["fill"]

_SHOTS, _CHANCES = 26, 30  # channels of tactics: four planes, then four constants


@kernel
def _side(board: Any, slot: int) -> tuple[int, int, int, int, int]:
    """off, pips, blots, anchors and the highest occupied point index (-1 when none) of one side; sums without branches are fast."""
    bar = int(board[slot, 24])
    left, pips, blots, anchors, high = 15 - bar, 25 * bar, 0, 0, 23
    for i in range(24):
        n = int(board[slot, i])
        left -= n
        pips += n * (i + 1)
        blots += n == 1
    for i in range(18, 24):
        anchors += board[slot, i] > 1
    while high >= 0 and board[slot, high] == 0:
        high -= 1
    return left, pips, blots, anchors, high


@kernel
def _contact(board: Any, my_high: int, their_high: int) -> tuple[int, int]:
    """Pips of each side still to pass the other's rearmost checker (0, 0 when a side has nothing left)."""
    my_bar, their_bar = int(board[1, 24]), int(board[0, 24])
    if (my_high < 0 and my_bar == 0) or (their_high < 0 and their_bar == 0):
        return 0, 0
    # In my numbering: lo is their rearmost checker, hi is mine; their index j is my index 23 - j.
    lo = 0 if their_bar else 23 - their_high
    hi = 23 if my_bar else my_high
    mine, theirs = my_bar * (25 - lo), their_bar * (hi + 2)
    for i in range(lo, 24):
        mine += int(board[1, i]) * (i - lo + 1)
    for i in range(hi + 1):
        theirs += int(board[0, 23 - i]) * (hi - i + 1)
    return mine, theirs


@kernel
def _constants(board: Any, dice: Any, mid: bool, divisors: Any, out: Any) -> None:
    """The constant channels 8..25 of one board into ``out float32[18]``."""
    one, f15, f6 = np.float32(1.0), np.float32(15.0), np.float32(6.0)
    my_off, my_pips, my_blots, my_anchors, my_high = _side(board, 1)
    their_off, their_pips, their_blots, their_anchors, their_high = _side(board, 0)
    my_contact, their_contact = _contact(board, my_high, their_high)
    out[0] = one
    out[1] = np.float32(board[1, 24]) / f15
    out[2] = np.float32(board[0, 24]) / f15
    out[3] = np.float32(my_off) / f15
    out[4] = np.float32(their_off) / f15
    out[5] = np.float32(dice[0]) / f6
    out[6] = np.float32(dice[1]) / f6
    out[7] = one if dice[0] == dice[1] and dice[0] > 0 else np.float32(0.0)
    out[8] = one if mid else np.float32(0.0)
    out[9] = np.float32(my_pips) / divisors[0]
    out[10] = np.float32(their_pips) / divisors[1]
    total = my_pips + their_pips
    out[11] = np.float32(my_pips) / np.float32(total) if total else np.float32(0.5)
    out[12] = np.float32(my_blots) / divisors[3]
    out[13] = np.float32(their_blots) / divisors[4]
    out[14] = np.float32(my_anchors) / divisors[5]
    out[15] = np.float32(their_anchors) / divisors[6]
    out[16] = np.float32(my_contact) / divisors[7]
    out[17] = np.float32(their_contact) / divisors[8]


@kernel
def _table() -> Any:
    """``float32[4, 32]``: the four checker planes by number of checkers on a point."""
    table = np.zeros((4, 32), np.float32)
    for n in range(32):
        for k in range(3):
            if n > k:
                table[k, n] = 1.0
        if n > 3:
            table[3, n] = (n - 3) / 2
    return table


@kernel
def _points(board: Any, cells: Any) -> None:
    """Checkers on the 24 cells of the planes, ``cells int64[2, 24]``: mine, theirs."""
    for c in range(12):
        cells[0, c] = board[1, 12 + c] & 31
        cells[0, 12 + c] = board[1, 11 - c] & 31
        cells[1, c] = board[0, 11 - c] & 31
        cells[1, 12 + c] = board[0, 12 + c] & 31


@kernel
def fill(
    boards: NDArray[Any],
    dice: NDArray[Any],
    mid: NDArray[Any],
    channels: NDArray[Any],
    divisors: NDArray[Any],
    flat: bool,
    out: NDArray[Any],
) -> None:
    """Write the channels of each board one after the other into ``out float32[N, F]``, 24 numbers each; ``flat``: of constant ones 1.

    ``divisors float32[9]``: of channels 17..25.
    """
    table = _table()
    cells = np.empty((2, 24), np.int64)
    constants = np.empty(18, np.float32)
    counts, chances, rolled = np.empty((4, 24), np.int64), np.empty((4, 24), np.float32), np.empty(4, np.float32)
    tactics = channels.max() >= _SHOTS
    for row in range(len(boards)):
        _points(boards[row], cells)
        _constants(boards[row], dice[row], mid[row], divisors, constants)
        if tactics:
            fill_tactics(boards[row], counts, chances, rolled)
        at = 0
        for k in range(len(channels)):
            channel = channels[k]
            if channel < 8:
                side = cells[channel // 4]
                plane = table[channel % 4]
                for c in range(24):
                    out[row, at + c] = plane[side[c]]
            elif _SHOTS <= channel < _CHANCES:
                for c in range(24):
                    out[row, at + c] = chances[channel - _SHOTS, c]
            else:
                constant = constants[channel - 8] if channel < 26 else rolled[channel - _CHANCES]
                if flat:
                    out[row, at] = constant
                    at += 1
                    continue
                for c in range(24):
                    out[row, at + c] = constant
            at += 24

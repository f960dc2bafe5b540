"""Chances of the next roll that a network learns slowly from checkers alone: shots, freedom to move, and entering from the bar.

Points are bits of a 64-bit mask, numbered from the side that moves (bit ``i`` is its point ``i + 1``, the bar is bit 24), so that all
checkers move by one shift. The definitions are kept simple enough for a twin on a torch device to give the same bits:

- *shots*: rolls of 36 that let a checker hit the blot on a point, alone, with one die or more. With one checker on the bar it enters
  first and the rest of the roll is free; with more, only entering checkers hit.
- *mobility*: rolls of 36 that a checker can play in full by itself (two steps of a double), as if nothing were on the bar and as if
  it might always bear off.
- *any shot*: rolls that hit at least one blot. *entry*: rolls that enter a checker from the bar, all 36 where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.env.kernels import kernel

__all__ = ["fill_tactics"]


@kernel
def _hit(mine: int, bar: int, free: int, a: int, b: int) -> int:
    """Points that a roll of ``a`` and ``b`` can reach by steps onto ``free`` ones; only those with a blot count."""
    enter_a, enter_b = (1 << (24 - a)) & free, (1 << (24 - b)) & free
    if bar > 1:
        return enter_a | enter_b
    if a == b:
        steps, at, reached = 4, mine, 0
        if bar:
            if not enter_a:
                return 0
            steps, at, reached = 3, mine | enter_a, enter_a
        for _ in range(steps):
            at = (at >> a) & free
            reached |= at
        return reached
    if bar:
        reached = enter_a | enter_b
        if enter_a:
            reached |= (mine | enter_a) >> b
        if enter_b:
            reached |= (mine | enter_b) >> a
        return reached
    by_a, by_b = (mine >> a) & free, (mine >> b) & free
    return by_a | by_b | (by_a >> b) | (by_b >> a)


@kernel
def _movable(mine: int, free: int, a: int, b: int) -> int:
    """The checkers of ``mine`` that can play ``a`` and ``b`` in full, in one order or the other."""
    both = (free << (a + b)) | ((1 << (a + b)) - 1)
    return mine & ((free << a) | (free << b)) & both


@kernel
def _masks(board: Any, side: int) -> tuple[int, int, int]:
    """Points of ``side`` in bits: those with its checkers, those with a blot of the other side, those that it may move to."""
    mine, blots, free = 0, 0, 0
    for i in range(24):
        if board[side, i] > 0:
            mine |= 1 << i
        other = board[1 - side, 23 - i]
        if other < 2:
            free |= 1 << i
        if other == 1:
            blots |= 1 << i
    return mine, blots, free


@kernel
def _add(counts: Any, points: int, weight: int) -> None:
    """Add ``weight`` to ``counts int64[24]`` at each of ``points``."""
    for i in range(24):
        counts[i] += weight * ((points >> i) & 1)


@kernel
def _one_side(board: Any, side: int, shots: Any, mobility: Any) -> tuple[int, int]:
    """Counts of 36 rolls by point of ``side`` into ``shots int64[24]`` and ``mobility int64[24]``; gives any shot and entry."""
    shots[:] = 0
    mobility[:] = 0
    mine, blots, free = _masks(board, side)
    bar = int(board[side, 24])
    any_shot, entry = 0, 0
    for a in range(1, 7):
        for b in range(a, 7):
            weight = 1 if a == b else 2
            if bar and (((1 << (24 - a)) | (1 << (24 - b))) & free):
                entry += weight
            if blots:
                hit = _hit(mine, bar, free, a, b) & blots
                if hit:
                    any_shot += weight
                    _add(shots, hit, weight)
            able = _movable(mine, free, a, b)
            if able:
                _add(mobility, able, weight)
    return any_shot, entry if bar else 36


@kernel
def fill_tactics(board: Any, counts: Any, cells: Any, constants: Any) -> None:
    """The chances of one board, side on roll in slot 1: planes ``cells float32[4, 24]`` (shots of mine and theirs, mobility of mine and
    theirs; cells as the encoder's) and ``constants float32[4]`` (any shot of mine and theirs, entry of mine and theirs).

    ``counts int64[4, 24]`` is scratch space.
    """
    rolls = np.float32(36.0)
    for k in range(2):
        any_shot, entry = _one_side(board, 1 - k, counts[k], counts[2 + k])
        constants[k] = np.float32(any_shot) / rolls
        constants[2 + k] = np.float32(entry) / rolls
    for c in range(12):
        for k in (0, 2):
            cells[k, c] = np.float32(counts[k, 12 + c]) / rolls
            cells[k, 12 + c] = np.float32(counts[k, 11 - c]) / rolls
            cells[k + 1, c] = np.float32(counts[k + 1, 11 - c]) / rolls
            cells[k + 1, 12 + c] = np.float32(counts[k + 1, 12 + c]) / rolls

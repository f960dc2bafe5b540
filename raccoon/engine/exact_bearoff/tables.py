"""Bear-off tables, computed by dynamic programming: one side's exact roll counts, and both sides' exact P(win).

A side is the ``(n1, .., n6)`` of its checkers on its own points 1..6. Positions are numbered by their total number of
checkers, then lexicographically, so that those with at most ``k`` checkers are the first C(k + 6, 6) of any table.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from raccoon.env.kernels import kernel
from raccoon.env.movegen import ROLL_PROBS

__all__ = ["MAX_ROLLS", "count", "one_sided", "positions", "rank", "results", "two_sided"]

MAX_ROLLS = 32
"""Columns of the one-sided table: P(exactly 0..31 rolls). The last holds what lies beyond, below 1e-12."""
_BINOMIAL = np.array([[comb(n, k) for k in range(8)] for n in range(24)], np.int64)


def count(checkers: int) -> int:
    """Number of positions with at most ``checkers`` checkers."""
    return comb(checkers + 6, 6)


@kernel
def _rank(side: NDArray[np.int8]) -> int:
    left = 0
    for n in side:
        left += n
    number = _BINOMIAL[left + 5, 6]
    for i in range(5):
        parts = 5 - i
        for smaller in range(side[i]):
            number += _BINOMIAL[left - smaller + parts - 1, parts - 1]
        left -= side[i]
    return number


@kernel
def _ranks(sides: NDArray[np.int8], out: NDArray[np.int64]) -> None:
    for row in range(len(sides)):
        out[row] = _rank(sides[row])


def rank(sides: NDArray[np.int8]) -> NDArray[np.int64]:
    """``int64[N]``: numbers of the positions ``int8[N, 6]`` (non-negative, at most 15 checkers each)."""
    out = np.empty(len(sides), np.int64)
    _ranks(np.ascontiguousarray(sides, np.int8), out)
    return out


@kernel
def _fill_positions(checkers: int, out: NDArray[np.int8]) -> None:
    row = 0
    for total in range(checkers + 1):
        for a in range(total + 1):
            for b in range(total - a + 1):
                for c in range(total - a - b + 1):
                    for d in range(total - a - b - c + 1):
                        for e in range(total - a - b - c - d + 1):
                            out[row, 0], out[row, 1], out[row, 2], out[row, 3], out[row, 4] = a, b, c, d, e
                            out[row, 5] = total - a - b - c - d - e
                            row += 1


def positions(checkers: int) -> NDArray[np.int8]:
    """``int8[P, 6]``: all positions with at most ``checkers`` checkers, in numbering order."""
    out = np.empty((count(checkers), 6), np.int8)
    _fill_positions(checkers, out)
    return out


@kernel
def _results(side: NDArray[np.int8], first: int, second: int, out: NDArray[np.int64]) -> int:
    """Numbers of the distinct positions after the roll, written into ``out`` in the order found; how many.

    At home without contact every die can be played until nothing is left. A double plays from high points to low ones:
    every set of moves can be played in that order, which finds each set once.
    """
    double = first == second
    steps = 4 if double else 2
    stack = np.empty((5, 6), np.int8)
    source = np.empty(5, np.int64)
    found = 0
    for order in range(1 if double else 2):
        stack[0] = side
        source[0] = 5
        level = 0
        while level >= 0:
            current = stack[level]
            highest = 5
            while highest >= 0 and current[highest] == 0:
                highest -= 1
            if level == steps or highest < 0:
                number = _rank(current)
                seen = False
                for i in range(found):
                    seen = seen or out[i] == number
                if not seen:
                    out[found] = number
                    found += 1
                level -= 1
                continue
            at = source[level]
            if at < 0:
                level -= 1
                continue
            source[level] -= 1
            die = first if level == order else second
            # a checker moves by the die or bears off exactly; a die beyond the highest checker takes that one
            if current[at] == 0 or (at + 1 < die and at < highest):
                continue
            level += 1
            stack[level] = current
            stack[level, at] -= 1
            if at >= die:
                stack[level, at - die] += 1
            source[level] = at if double else 5
    return found


@kernel
def _all_results(sides: NDArray[np.int8], out: NDArray[np.int32], offsets: NDArray[np.int64]) -> int:
    """Results of each position and roll in CSR form; how many there are, of which ``out`` takes the first."""
    buffer = np.empty(128, np.int64)
    total = 0
    at = 0
    for row in range(len(sides)):
        for first in range(1, 7):
            for second in range(first, 7):
                found = _results(sides[row], first, second, buffer)
                for i in range(found):
                    if total + i < len(out):
                        out[total + i] = buffer[i]
                total += found
                at += 1
                offsets[at] = total
    return total


def results(sides: NDArray[np.int8]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Distinct results of each roll of ``sides int8[P, 6]``: numbers ``int32[M]`` and ``offsets int64[21 P + 1]`` (11, 12, .., 66)."""
    offsets = np.zeros(21 * len(sides) + 1, np.int64)
    out = np.empty(9 * 21 * len(sides), np.int32)
    total = _all_results(sides, out, offsets)
    if total > len(out):
        out = np.empty(total, np.int32)
        _all_results(sides, out, offsets)
    return out[:total], offsets


@kernel
def _roll_counts(order: NDArray[np.int64], found: NDArray[np.int32], offsets: NDArray[np.int64], table: NDArray[np.float64]) -> None:
    mean = np.zeros(len(table))
    table[0, 0] = 1.0
    for row in order[1:]:
        for roll in range(21):
            first, last = offsets[row * 21 + roll], offsets[row * 21 + roll + 1]
            best = found[first]
            for i in range(first + 1, last):
                if mean[found[i]] < mean[best]:
                    best = found[i]
            for rolls in range(MAX_ROLLS - 1):
                table[row, rolls + 1] += ROLL_PROBS[roll] * table[best, rolls]
            table[row, MAX_ROLLS - 1] += ROLL_PROBS[roll] * table[best, MAX_ROLLS - 1]
            mean[row] += ROLL_PROBS[roll] * (1.0 + mean[best])


def one_sided(checkers: int = 15) -> NDArray[np.float32]:
    """``float32[P, MAX_ROLLS]``: P(exactly n rolls to bear off all) when the expected number of rolls is minimised."""
    sides = positions(checkers)
    order = np.argsort(sides @ np.arange(1, 7), kind="stable")
    table = np.zeros((len(sides), MAX_ROLLS))
    _roll_counts(order, *results(sides), table)
    return table.astype(np.float32)


@kernel
def _wins(
    by_pips: NDArray[np.int64], starts: NDArray[np.int64], found: NDArray[np.int32], offsets: NDArray[np.int64], win: NDArray[np.float32]
) -> None:
    most = len(starts) - 2
    for both in range(2, 2 * most + 1):
        for mine_pips in range(max(1, both - most), min(most, both - 1) + 1):
            for mine in by_pips[starts[mine_pips] : starts[mine_pips + 1]]:
                for other in by_pips[starts[both - mine_pips] : starts[both - mine_pips + 1]]:
                    total = 0.0
                    for roll in range(21):
                        least = np.float32(2.0)
                        for i in range(offsets[mine * 21 + roll], offsets[mine * 21 + roll + 1]):
                            least = min(least, win[other, found[i]])
                        total += ROLL_PROBS[roll] * (1.0 - least)
                    win[mine, other] = total


def two_sided(checkers: int) -> NDArray[np.float32]:
    """``float32[P, P]``: P(win) of the side on roll (row) against the other side (column), both playing perfectly.

    Exact by induction on the pips of both: every play lowers them. Entry [p, 0] is 0: the other side has won.
    """
    sides = positions(checkers)
    pips = sides @ np.arange(1, 7)
    by_pips = np.argsort(pips, kind="stable")
    starts = np.searchsorted(pips[by_pips], np.arange(6 * checkers + 2))
    win = np.zeros((len(sides), len(sides)), np.float32)
    win[0, 1:] = 1.0
    _wins(by_pips, starts, *results(sides), win)
    return win

"""Whole turns: every distinct board a roll can lead to, for many boards at a time.

The rules: use as many dice as can be used; when either die but not both can be played, the higher one; checkers on
the bar enter first; bearing off needs all checkers at home, and a die higher than the highest point takes from there.

The search is iterative (a cached self-recursive numba kernel breaks on its second run). A double plays its moves
from high points to low ones only: any legal set of moves can be played in that order and each set gives another
board, so nothing is generated twice. Other rolls try both orders of the dice; equal boards meet in the sort.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards, Cubes, RaccoonError, Turns
from raccoon.env.board import as_array, as_boards, check, unfinished
from raccoon.env.kernels import kernel
from raccoon.env.position_ids import side_bits

__all__ = ["ROLLS", "ROLL_PROBS", "afterstates", "afterstates_all_rolls", "check_dice", "enumerate_turns", "step", "undo"]


def _rolls() -> NDArray[np.int8]:
    rolls = np.array([(a, b) for a in range(1, 7) for b in range(a, 7)], np.int8)
    rolls.setflags(write=False)
    return rolls


ROLLS: NDArray[np.int8] = _rolls()
"""``int8[21, 2]``: the rolls, lower die first, in the fixed order (1,1), (1,2), .., (6,6)."""
ROLL_PROBS: NDArray[np.float64] = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0) / 36.0
"""``float64[21]``: their probabilities."""
ROLL_PROBS.setflags(write=False)

# Results of one roll: four steps of a double on 15 checkers can be shared out in C(18, 4) = 3060 ways, and the two
# orders of another roll give 2 * 15 * 15 at most.
_MOST = 3072
# A board in the search is 7 words: 25 numbers of the mover, 25 of the other side, six bytes unused. Copying words is
# several times as fast as copying bytes.
_WORDS = 7


@kernel
def step(mover: NDArray[np.int8], other: NDArray[np.int8], source: int, die: int) -> int:
    """Move one checker in place. 0 when illegal, 1 when moved, 2 when it hit."""
    if mover[source] == 0 or (source != 24 and mover[24] > 0):
        return 0
    target = source - die
    if target >= 0:
        there = other[23 - target]
        if there > 1:
            return 0
        mover[source] -= 1
        mover[target] += 1
        if there == 1:
            other[23 - target] = 0
            other[24] += 1
            return 2
        return 1
    for i in range(6, 25):
        if mover[i] > 0:
            return 0
    if target < -1:
        for i in range(source + 1, 6):
            if mover[i] > 0:
                return 0
    mover[source] -= 1
    return 1


@kernel
def undo(mover: NDArray[np.int8], other: NDArray[np.int8], source: int, die: int, kind: int) -> None:
    mover[source] += 1
    target = source - die
    if target >= 0:
        mover[target] -= 1
        if kind == 2:
            other[24] -= 1
            other[23 - target] = 1


@kernel
def _keep(work: NDArray[np.uint64], found: NDArray[np.uint64], place: int) -> None:
    for word in range(_WORDS):
        found[place, word] = work[word]


@kernel
def _search(
    work: NDArray[np.uint64], dice: NDArray[np.int64], steps: int, ordered: bool, found: NDArray[np.uint64], count: int, depth: int
) -> tuple[int, int]:
    """Depth-first over ``steps`` moves with ``dice``, keeping the boards of the deepest level seen.

    ``work`` is searched in place and left as it was. ``ordered``: never move from a higher point than the move
    before. ``count`` boards of level ``depth`` are in ``found`` already; returns both anew.
    """
    cells = work.view(np.int8)
    mover, other = cells[:25], cells[25:50]
    sources = np.empty(4, np.int64)
    kinds = np.empty(4, np.int64)
    level = 0
    source = 24
    while True:
        kind = 0
        if level < steps:
            while source >= 0:
                kind = step(mover, other, source, dice[level])
                if kind:
                    break
                source -= 1
        if kind:
            sources[level], kinds[level] = source, kind
            level += 1
            if level > depth:
                depth, count = level, 0
            if level == depth:
                _keep(work, found, count)
                count += 1
            if not ordered:
                source = 24
            continue
        if level == 0:
            return count, depth
        level -= 1
        source = sources[level]
        undo(mover, other, source, dice[level], kinds[level])
        source -= 1


@kernel
def _roll(work: NDArray[np.uint64], low: int, high: int, found: NDArray[np.uint64]) -> int:
    """All results of one roll into ``found`` (equal ones may repeat); their number. A dance gives the board itself."""
    dice = np.empty(4, np.int64)
    if low == high:
        dice[:] = low
        count, depth = _search(work, dice, 4, True, found, 0, 0)
    else:
        dice[0], dice[1] = high, low
        count, depth = _search(work, dice, 2, False, found, 0, 0)
        dice[0], dice[1] = low, high
        if depth == 1:
            # the higher die can be played, the lower only before it or not at all: a single lower die never counts
            both, deeper = _search(work, dice, 2, False, found, count, 1)
            if deeper == 2:
                count = both
        else:
            count, depth = _search(work, dice, 2, False, found, count, depth)
    if count == 0:
        for word in range(_WORDS):
            found[0, word] = work[word]
        count = 1
    return count


@kernel
def _sort(
    work: NDArray[np.uint64],
    found: NDArray[np.uint64],
    count: int,
    high: NDArray[np.uint64],
    low: NDArray[np.uint64],
    order: NDArray[np.int64],
) -> None:
    """Order ``found[:count]`` by ascending key bytes (Shell's sort on the words, most significant byte first)."""
    before = work.view(np.int8)[25:50]
    cells = found.view(np.int8)
    untouched, _ = side_bits(before)
    for i in range(count):
        mine, length = side_bits(cells[i, :25])
        theirs = untouched
        if cells[i, 49] != before[24]:
            theirs, _ = side_bits(cells[i, 25:50])
        rest = theirs >> (np.uint64(64) - length)
        mine |= theirs << length
        word = np.uint64(0)
        for byte in range(8):
            word = (word << np.uint64(8)) | ((mine >> np.uint64(8 * byte)) & np.uint64(255))
        high[i] = word
        low[i] = ((rest & np.uint64(255)) << np.uint64(8)) | (rest >> np.uint64(8))
        order[i] = i
    for gap in (1750, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, count):
            a, b, k = high[i], low[i], order[i]
            j = i
            while j >= gap and (high[j - gap] > a or (high[j - gap] == a and low[j - gap] > b)):
                high[j], low[j], order[j] = high[j - gap], low[j - gap], order[j - gap]
                j -= gap
            high[j], low[j], order[j] = a, b, k


@kernel
def _generate(boards: NDArray[np.int8], dice: NDArray[np.int8], shared: bool) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Children and offsets of ``boards int8[N, 50]``. ``shared``: every board with every row of ``dice``, else row by row."""
    per = dice.shape[0] if shared else 1
    rows = boards.shape[0] * per
    offsets = np.zeros(rows + 1, np.int64)
    out = np.empty((rows * 18 + 64, 50), np.int8)
    used = 0
    found = np.empty((_MOST, _WORDS), np.uint64)
    cells = found.view(np.int8)
    high, low = np.empty(_MOST, np.uint64), np.empty(_MOST, np.uint64)
    order = np.empty(_MOST, np.int64)
    work = np.zeros(_WORDS, np.uint64)
    child = work.view(np.int8)
    for row in range(rows):
        board = row // per
        roll = row % per if shared else row
        for i in range(25):
            child[i], child[25 + i] = boards[board, 25 + i], boards[board, i]
        a, b = dice[roll, 0], dice[roll, 1]
        count = _roll(work, min(a, b), max(a, b), found)
        _sort(work, found, count, high, low, order)
        if used + count > out.shape[0]:
            # grown by what the rows so far say about the rest, never less than a half
            wanted = max(out.shape[0] * 3 // 2, (used + count) * rows // (row + 1)) + count
            grown = np.empty((wanted, 50), np.int8)
            grown[:used] = out[:used]
            out = grown
        for i in range(count):
            if i == 0 or high[i] != high[i - 1] or low[i] != low[i - 1]:
                source = order[i]
                for cell in range(50):
                    out[used, cell] = cells[source, cell]
                used += 1
        offsets[row + 1] = used
    return out[:used].copy(), offsets


def _children(boards: Boards, dice: NDArray[np.int8], shared: bool) -> tuple[Boards, NDArray[np.int64]]:
    out, offsets = _generate(boards.reshape(-1, 50), dice, shared)
    return out.reshape(-1, 2, 25), offsets


@kernel
def _first_done(boards: NDArray[np.int8]) -> int:
    for row in range(boards.shape[0]):
        done = True
        for i in range(25):
            if boards[row, 1, i] > 0:
                done = False
                break
        if done:
            return row
    return -1


def check_dice(dice: ArrayLike, rows: int) -> NDArray[np.int8]:
    """``dice`` as ``int8[rows, 2]``. Raises RaccoonError naming the row when a number is not 1..6."""
    array = as_array(dice, "dice")
    if array.shape != (rows, 2):
        raise RaccoonError(f"dice: shape {array.shape} instead of ({rows}, 2)")
    if rows and array.dtype.kind not in "iu":
        raise RaccoonError(f"dice: numbers of type {array.dtype} instead of integers")
    bad = (array < 1) | (array > 6)
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise RaccoonError(f"dice: row {row} is {array[row].tolist()}; each die is 1..6")
    return np.ascontiguousarray(array, dtype=np.int8)


def _playable(boards: ArrayLike) -> Boards:
    array = as_boards(boards)
    check(array)
    row = _first_done(array)
    if row >= 0:
        raise RaccoonError(f"boards: row {row} is a finished game (the side on roll has borne off all); there is nothing to play")
    return array


def afterstates(boards: ArrayLike, dice: ArrayLike) -> tuple[Boards, NDArray[np.int64]]:
    """The distinct results of a whole turn for each row.

    ``boards [N, 2, 25]`` pre-roll, mover in slot 1; ``dice int[N, 2]`` in either order. Returns ``(children int8[M, 2,
    25], offsets int64[N + 1])``: row ``i`` owns ``children[offsets[i]:offsets[i + 1]]``, each already swapped (the
    opponent in slot 1), in ascending order of position-key bytes. A dance gives the one swapped board.

    A board where only the *other* side has borne off is still moved on (bear-off studies do that);
    ``enumerate_turns`` refuses it. Raises RaccoonError naming the row of a bad board, bad dice, or a mover with
    nothing left.
    """
    array = _playable(boards)
    return _children(array, check_dice(dice, len(array)), False)


def afterstates_all_rolls(boards: ArrayLike) -> tuple[Boards, NDArray[np.int64]]:
    """``afterstates`` of every board with each of ``ROLLS``: ``(children int8[M, 2, 25], offsets int64[N * 21 + 1])``.

    Board ``i`` with roll ``r`` is row ``i * 21 + r``.
    """
    return _children(_playable(boards), ROLLS, True)


def enumerate_turns(boards: ArrayLike, dice: ArrayLike, cubes: Cubes | None = None) -> Turns:
    """``Turns`` of rows that wait for a play (cubes centred at 1 unless given).

    Raises RaccoonError as ``afterstates`` does, and for games that are over.
    """
    array = unfinished(boards)
    rolls = check_dice(dice, len(array))
    cubes = Cubes.centred(len(array)) if cubes is None else cubes
    if not len(cubes.value) == len(cubes.owner) == len(array):
        raise RaccoonError(f"cubes: {len(cubes.value)} values and {len(cubes.owner)} owners for {len(array)} boards")
    children, offsets = _children(array, rolls, False)
    return Turns(array, rolls, cubes, children, offsets)

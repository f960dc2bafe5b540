"""OpenSpiel's 1352 actions: half turns of at most two checker moves, their masks and their results.

An id packs two digits, each the index a checker leaves (0..23), 24 for the bar or 25 for no move:
``first + 26 * second``, plus 676 when the first move uses the lower die. Different ids may lead to the same board.
A double is two such actions of the same side; the second is asked for only after a first that moved twice.

OpenSpiel numbers points absolutely. Its player 1 counts as we do (index i is point i + 1), its player 0 from the other
end (23 - i). The functions here speak of player 1, that is of the side on roll in its own numbering, which is what a
network that sees the board from the mover should learn; ``for_player`` translates ids to and from a real player.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.env import ragged
from raccoon.env.board import unfinished
from raccoon.env.kernels import kernel
from raccoon.env.movegen import check_dice, step, undo

__all__ = ["N_ACTIONS", "PASS", "apply_actions", "for_player", "legal_actions", "legal_mask", "low_first", "play", "set_legal"]

N_ACTIONS = 1352
"""Size of OpenSpiel's action space."""
PASS = 1351
"""The only legal action of a side that cannot move."""
_ORDER = 676


@kernel
def set_legal(board: NDArray[np.int8], low: int, high: int, mask: NDArray[np.bool_]) -> None:
    """Kernel: set the legal ids of one board (``int8[2, 25]``, searched in place, left as it was) in ``mask bool[1352]``."""
    mover, other = board[1], board[0]
    best = 0
    best_single = 0
    for order in range(1 if low == high else 2):
        first, second = (high, low) if order == 0 else (low, high)
        shift = order * _ORDER
        for one in range(24, -1, -1):
            kind = step(mover, other, one, first)
            if not kind:
                continue
            for two in range(24, -1, -1):
                again = step(mover, other, two, second)
                if again:
                    undo(mover, other, two, second, again)
                    if best < 2:
                        best = 2
                        mask[:] = False
                    mask[one + 26 * two + shift] = True
            undo(mover, other, one, first, kind)
            if best == 0 or (best == 1 and best_single == first):
                # neither die followed by the other so far: of single moves only those of the higher die count
                best, best_single = 1, first
                mask[one + 26 * 25 + shift] = True
    if best == 0:
        mask[PASS] = True


@kernel
def _masks(boards: NDArray[np.int8], dice: NDArray[np.int8], out: NDArray[np.bool_]) -> None:
    board = np.empty((2, 25), np.int8)
    for row in range(boards.shape[0]):
        board[:] = boards[row]
        low, high = min(dice[row, 0], dice[row, 1]), max(dice[row, 0], dice[row, 1])
        set_legal(board, low, high, out[row])


@kernel
def play(board: NDArray[np.int8], low: int, high: int, mid: bool, action: int) -> bool:
    """Kernel: make a legal half turn on one board (``int8[2, 25]``, in place; swapped when the turn is over).

    True when the same side goes on with its double.
    """
    low_first = action >= _ORDER
    packed = action % _ORDER
    first, second = packed % 26, packed // 26
    mover, other = board[1], board[0]
    if first != 25:
        step(mover, other, first, low if low_first else high)
    if second != 25:
        step(mover, other, second, high if low_first else low)
    left = 0
    for i in range(25):
        left += mover[i]
    again = low == high and not mid and second != 25 and left > 0
    if not again:
        for i in range(25):
            board[0, i], board[1, i] = board[1, i], board[0, i]
    return again


@kernel
def _apply(
    boards: NDArray[np.int8], dice: NDArray[np.int8], mid: NDArray[np.bool_], ids: NDArray[np.int64], again: NDArray[np.bool_]
) -> None:
    """Make the moves in place (legal ids only) and say whose double goes on."""
    for row in range(boards.shape[0]):
        low, high = min(dice[row, 0], dice[row, 1]), max(dice[row, 0], dice[row, 1])
        again[row] = play(boards[row], low, high, mid[row], ids[row])


def _inputs(boards: ArrayLike, dice: ArrayLike, mid_doubles: ArrayLike | None) -> tuple[Boards, NDArray[np.int8], NDArray[np.bool_]]:
    array = unfinished(boards)
    rolls = check_dice(dice, len(array))
    mid = np.zeros(len(array), np.bool_) if mid_doubles is None else np.asarray(mid_doubles, np.bool_)
    if mid.shape != (len(array),):
        raise RaccoonError(f"mid_doubles: shape {mid.shape} instead of ({len(array)},)")
    wrong = np.flatnonzero(mid & (rolls[:, 0] != rolls[:, 1]))
    if len(wrong):
        raise RaccoonError(f"mid_doubles: row {wrong[0]} is set, but its dice {rolls[wrong[0]].tolist()} are no double")
    return array, rolls, mid


def low_first(dice: ArrayLike) -> NDArray[np.int8]:
    """``dice int[N, 2]`` with the lower of each roll first: what a policy head is shown, so that 3-1 and 1-3 are one roll to it."""
    return np.sort(np.asarray(dice, np.int8), axis=1)


def legal_mask(boards: ArrayLike, dice: ArrayLike, mid_doubles: ArrayLike | None = None) -> NDArray[np.bool_]:
    """``bool[N, 1352]``: the legal half turns of the side on roll (slot 1), in its own numbering.

    ``boards [N, 2, 25]`` as they stand, ``dice int[N, 2]`` in either order; ``mid_doubles bool[N]`` marks boards where
    the first half of a double has been played (it does not change what is legal). Raises RaccoonError naming the row
    of a bad or finished board, bad dice, or a ``mid_doubles`` without a double.
    """
    array, rolls, _ = _inputs(boards, dice, mid_doubles)
    out = np.zeros((len(array), N_ACTIONS), np.bool_)
    _masks(array, rolls, out)
    return out


def legal_actions(boards: ArrayLike, dice: ArrayLike, mid_doubles: ArrayLike | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(ids int64[M], offsets int64[N + 1])``: the set bits of ``legal_mask`` row by row, ascending."""
    mask = legal_mask(boards, dice, mid_doubles)
    return np.nonzero(mask)[1], ragged.offsets_of(mask.sum(axis=1))


def apply_actions(
    boards: ArrayLike, dice: ArrayLike, ids: ArrayLike, mid_doubles: ArrayLike | None = None
) -> tuple[Boards, NDArray[np.bool_]]:
    """Play one legal half turn in each row: ``(boards int8[N, 2, 25], mid_doubles bool[N])`` after it.

    Where the same side goes on with the second half of its double, ``mid_doubles`` is set and it stays in slot 1;
    elsewhere the turn is over and the board swapped. Raises RaccoonError naming the first row whose id is not legal.
    """
    array, rolls, mid = _inputs(boards, dice, mid_doubles)
    chosen = np.asarray(ids)
    if chosen.shape != (len(array),) or chosen.dtype.kind not in "iu":
        raise RaccoonError(f"ids: {chosen.dtype}{list(chosen.shape)} instead of integers [{len(array)}]")
    legal = legal_mask(array, rolls)
    good = (chosen >= 0) & (chosen < N_ACTIONS)
    good &= legal[np.arange(len(array)), np.where(good, chosen, 0)]
    if not good.all():
        row = int(np.argmin(good))
        raise RaccoonError(f"ids: row {row}: action {chosen[row]} is not legal with dice {rolls[row].tolist()}")
    out = array.copy()
    again = np.zeros(len(array), np.bool_)
    _apply(out, rolls, mid, chosen.astype(np.int64), again)
    return out, again


def for_player(ids: ArrayLike, player: ArrayLike) -> NDArray[np.int64]:
    """Ids of the mover's numbering as OpenSpiel's ``player`` (0 or 1, broadcast) has them, and back (its own inverse)."""
    numbers = np.asarray(ids, np.int64)
    packed = numbers % _ORDER
    digits = np.stack([packed % 26, packed // 26])
    mirrored = np.where(digits < 24, 23 - digits, digits)
    flipped = mirrored[0] + 26 * mirrored[1] + numbers // _ORDER * _ORDER
    return np.where(np.asarray(player) == 0, flipped, numbers)

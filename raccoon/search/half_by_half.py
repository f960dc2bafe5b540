"""Doubles played half by half, as OpenSpiel asks for them. This is here only to measure what it gives away.

A double is two actions of two half-moves each. Greedy play ranks the first action by the static value of the board in
between, read as if the mover were about to roll, then takes the best whole turn behind the chosen one.

Every first half can be completed to a legal whole turn. Half-moves of one die are confluent: a half-move that is legal
stays legal after another one (points blocked by the opponent stay blocked, checkers only come nearer), so all orders
end with the same number of half-moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine, Turns
from raccoon.env import ragged
from raccoon.env.half_moves import apply_actions, legal_actions
from raccoon.env.lookup import unique_boards
from raccoon.env.position_ids import row_keys

__all__ = ["HalfTurns", "behind_best_half", "half_turns", "two_step"]


def two_step(turns: Turns) -> NDArray[np.bool_]:
    """``bool[N]``: doubles whose first action leaves a second one to the same side."""
    out = np.zeros(len(turns), bool)
    doubles = np.flatnonzero(turns.dice[:, 0] == turns.dice[:, 1])
    if len(doubles):
        halves = half_turns(turns.boards[doubles], turns.dice[doubles], None)
        out[doubles[halves.row[halves.again]]] = True
    return out


def behind_best_half(turns: Turns, engine: Engine) -> tuple[NDArray[np.bool_], int]:
    """``(bool[M], evaluations)``: the children that greedy play still chooses from.

    All of them where the roll is no double; else those behind the best first half (the first in position-key order
    among equals).
    """
    full = np.ones(len(turns.children), bool)
    doubles = np.flatnonzero(turns.dice[:, 0] == turns.dice[:, 1])
    if len(doubles) == 0:
        return full, 0
    dice = turns.dice[doubles]
    found = half_turns(turns.boards[doubles], dice, None)
    halves, row, again = found.boards, found.row, found.again
    first, inverse = unique_boards(halves)
    value = np.asarray(engine.value(halves[first]), np.float64)[inverse]
    # in between the mover is still in slot 1; where the turn is over the board has been swapped
    to_mover = np.where(again, value, -value)
    order = np.lexsort((row_keys(row, halves), -to_mover, row))
    best = order[np.searchsorted(row[order], np.arange(len(doubles)))]
    reached, owner = halves[best], doubles.copy()
    going_on = again[best]
    if going_on.any():
        ends = half_turns(reached[going_on], dice[going_on], np.ones(int(going_on.sum()), bool))
        reached = np.concatenate([reached[~going_on], ends.boards])
        owner = np.concatenate([doubles[~going_on], doubles[going_on][ends.row]])
    row_of_child = ragged.row_of(turns.offsets)
    candidates = np.isin(row_of_child, doubles)
    full[candidates] = np.isin(row_keys(row_of_child[candidates], turns.children[candidates]), row_keys(owner, reached))
    return full, len(first)


class HalfTurns(NamedTuple):
    """Every legal action of some rows: ``boards int8[K, 2, 25]`` after it, ``row int64[K]``, ``ids int64[K]`` (OpenSpiel's, in the
    mover's numbering), ``again bool[K]``: the same side goes on (it stays in slot 1; elsewhere the board is swapped)."""

    boards: Boards
    row: NDArray[np.int64]
    ids: NDArray[np.int64]
    again: NDArray[np.bool_]


def half_turns(boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_] | None) -> HalfTurns:
    """The half turns of ``boards`` with ``dice int8[N, 2]``; ``mid bool[N]``: the first half of a double has been played."""
    ids, offsets = legal_actions(boards, dice, mid)
    row = ragged.row_of(offsets)
    after, again = apply_actions(boards[row], dice[row], ids, None if mid is None else mid[row])
    return HalfTurns(after, row, ids, again)

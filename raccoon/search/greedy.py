"""Doubles played half by half, as OpenSpiel asks for them: kept only to measure what that concedes.

A double is two actions of two half-moves each. Greedy play ranks the first action by the static value of the board in
between, read as if the mover were about to roll, then takes the best whole turn behind the chosen one.

Every first half can be completed to a legal whole turn. Half-moves of one die are confluent: a half-move that is legal
stays legal after another one (points blocked by the opponent stay blocked, checkers only come nearer), so all orders
end with the same number of half-moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine, Turns
from raccoon.env.codec import row_keys, unique_boards
from raccoon.env.half_moves import apply_actions, legal_actions

__all__ = ["behind_best_half", "two_step"]


def two_step(turns: Turns) -> NDArray[np.bool_]:
    """``bool[N]``: doubles whose first action leaves a second one to the same side."""
    out = np.zeros(len(turns), bool)
    doubles = np.flatnonzero(turns.dice[:, 0] == turns.dice[:, 1])
    if len(doubles):
        _, row, again = _halves(turns.boards[doubles], turns.dice[doubles], None)
        out[doubles[row[again]]] = True
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
    halves, row, again = _halves(turns.boards[doubles], dice, None)
    first, inverse = unique_boards(halves)
    value = np.asarray(engine.value(halves[first]), np.float64)[inverse]
    # in between the mover is still in slot 1; where the turn is over the board has been swapped
    to_mover = np.where(again, value, -value)
    order = np.lexsort((row_keys(row, halves), -to_mover, row))
    best = order[np.searchsorted(row[order], np.arange(len(doubles)))]
    reached, owner = halves[best], doubles.copy()
    going_on = again[best]
    if going_on.any():
        ends, sub, _ = _halves(reached[going_on], dice[going_on], np.ones(int(going_on.sum()), bool))
        reached = np.concatenate([reached[~going_on], ends])
        owner = np.concatenate([doubles[~going_on], doubles[going_on][sub]])
    row_of_child = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    candidates = np.isin(row_of_child, doubles)
    full[candidates] = np.isin(row_keys(row_of_child[candidates], turns.children[candidates]), row_keys(owner, reached))
    return full, len(first)


def _halves(boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_] | None) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Boards after every legal action of every row, the row of each, and whether the same side goes on."""
    ids, offsets = legal_actions(boards, dice, mid)
    row = np.repeat(np.arange(len(boards)), np.diff(offsets))
    after, again = apply_actions(boards[row], dice[row], ids, None if mid is None else mid[row])
    return after, row, again

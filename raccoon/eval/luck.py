"""Dice luck as a control variate: luck = h(s, d) - sum over d' of p(d') h(s, d').

``h`` is GNUBG's 0-ply equity after the best play of the roll, whoever plays, whatever is played and at whatever ply,
signed to one fixed side. It is the same function on both legs, so the luck of a finished game has mean zero by
construction, with any ``h``, and subtracting it leaves the expected result where it was (Montgomery, "Variance
Reduction", GammOnLine, February 2000). How much variance goes depends on how well ``h`` reads the game.

The opening has 30 outcomes (who starts x 15 unequal rolls) and mean exactly zero, the position being symmetric.
No random numbers are drawn here. Points at cube 1 throughout.

Batch forms: ``roll_means``, ``luck_of`` and ``LuckObserver``. The other five functions work on OpenSpiel states and
are the reference for the batch forms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, RaccoonError, Step, Turns
from raccoon.engine.gnubg import GnubgEngine, roll_values
from raccoon.engine.rolls import roll_index, roll_means
from raccoon.env.board import START, unfinished
from raccoon.env.lookup import Lookup, unique_boards
from raccoon.env.movegen import ROLLS, check_dice

__all__ = [
    "LuckObserver",
    "candidate_board_equity",
    "luck_of",
    "pre_roll_luck",
    "pre_roll_values",
    "python_roll_value",
    "roll_index",
    "roll_means",
    "roll_value_table",
]


def luck_of(boards: Boards, dice: NDArray[np.int8], opening: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``(luck, mean)``, both ``float64[N]`` in points to the side on roll, for pre-roll ``boards`` and the ``dice`` rolled.

    ``opening bool[N]``: the roll decided who starts; its mean is 0 by symmetry. Raises RaccoonError naming the row of a
    bad or finished board or bad dice.
    """
    boards = unfinished(boards)
    dice = check_dice(dice, len(boards))
    first, inverse = unique_boards(boards)
    points = roll_values(boards[first])
    mean = np.where(opening, 0.0, roll_means(points)[inverse])
    return points[inverse, roll_index(dice)] - mean, mean


class LuckObserver:
    """Adds up the luck of player 0 in each game while the match runner plays. Watches only; needs no dice of its own.

    ``games int64[G]``: the games that will be played; ``luck float64[G]`` is aligned with it. ``starts``: they start from other boards
    than the starting position; what such a board is worth counts as luck of the side that has it.
    """

    def __init__(self, games: NDArray[np.int64], starts: bool = False) -> None:
        self._starts = starts
        self._place = Lookup(games)
        self._opening = roll_values(START[None])[0]
        self.luck = np.zeros(len(games), np.float64)

    def rolled(self, step: Step) -> None:
        """Add the luck of this roll."""
        luck = np.empty(len(step.games), np.float64)
        first = step.roll == 0
        luck[first] = self._opening[roll_index(step.dice[first])]
        later = ~first
        if later.any():
            luck[later], mean = luck_of(step.boards[later], step.dice[later], first[later])
            if self._starts:
                luck[later] += np.where(step.roll[later] == 1, mean, 0.0)
        rows = self._place.find(step.games)
        self.luck[rows] += np.where(step.mover == 0, luck, -luck)

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Nothing: luck does not depend on the play."""

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing."""


def roll_value_table(board: NDArray[np.int8], ply: int = 0) -> dict[tuple[int, int], float]:
    """Best-play points to the mover of each of the 21 rolls of pre-roll ``board int8[2, 25]``, keyed (low, high)."""
    values = roll_values(np.asarray(board)[None], ply)[0]
    return {(int(low), int(high)): float(value) for (low, high), value in zip(ROLLS, values, strict=True)}


def pre_roll_values(state: Any, perspective_player: int, ply: int = 0) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """``(actions, probs, values)`` of every outcome of the OpenSpiel chance node ``state``.

    ``values[i]`` is the best-play equity in points after outcome ``actions[i]``, to ``perspective_player``.
    Raises RaccoonError (a ValueError) when ``state`` is not a chance node.
    """
    _need_chance(state)
    actions, probs = zip(*state.chance_outcomes(), strict=True)
    tables: dict[int, dict[tuple[int, int], float]] = {}
    values = np.empty(len(actions), np.float64)
    for row, action in enumerate(actions):
        roller, low, high = _roll(state, action)
        if roller not in tables:
            tables[roller] = roll_value_table(_board(state), ply)
        values[row] = tables[roller][low, high] * (1.0 if roller == perspective_player else -1.0)
    return list(actions), np.array(probs), values


def pre_roll_luck(state: Any, chance_action: int, perspective_player: int, ply: int = 0) -> tuple[float, float]:
    """``(luck, mean)`` in points to ``perspective_player`` of outcome ``chance_action`` at the chance node ``state``.

    Averaged over the node's own outcomes the luck is zero. Raises RaccoonError for another node or an unknown action.
    """
    actions, probs, values = pre_roll_values(state, perspective_player, ply)
    if chance_action not in actions:
        raise RaccoonError(f"chance action {chance_action} is not an outcome of this node (0..{len(actions) - 1})")
    mean = float(probs @ values)
    return float(values[actions.index(chance_action)]) - mean, mean


def candidate_board_equity(state: Any, ply: int = 0) -> float:
    """GNUBG's equity, in points to the side to move, of the board of the OpenSpiel decision node ``state``."""
    board = _board(state)
    return float(GnubgEngine(ply).points(board[None])[0])


def python_roll_value(state: Any, chance_action: int, ply: int = 0) -> float:
    """Best-play points to the mover after ``chance_action``, over OpenSpiel's own move generation; the slow test oracle.

    Follows both halves of a double; finished positions count their exact returns.
    """
    _need_chance(state)
    roller, _, _ = _roll(state, chance_action)
    child = state.clone()
    child.apply_action(chance_action)
    return _best(child, roller, GnubgEngine(ply))


def _best(state: Any, mover: int, engine: GnubgEngine) -> float:
    if state.is_terminal():
        return float(state.returns()[mover])
    if state.is_chance_node():
        return -float(engine.points(_board(state)[None])[0])
    results: dict[str, float] = {}
    for action in state.legal_actions():
        child = state.child(action)
        key = str(child)
        if key not in results:
            results[key] = _best(child, mover, engine)
    return max(results.values())


def _need_chance(state: Any) -> None:
    if not state.is_chance_node():
        raise RaccoonError("this OpenSpiel state is not a chance node: luck is defined before the dice are rolled")


def _roll(state: Any, action: int) -> tuple[int, int, int]:
    """Who rolls, and the dice low first, for a chance action of this node."""
    from raccoon.env.game_wrapper import CHANCE_ROLLS, view

    roller = action % 2 if state.is_initial_state() else view(state).player
    low, high = CHANCE_ROLLS[action]
    return roller, int(low), int(high)


def _board(state: Any) -> NDArray[np.int8]:
    """``int8[2, 25]``: the board of an OpenSpiel state, the side that decides or rolls in slot 1."""
    from raccoon.env.game_wrapper import view  # imports OpenSpiel, which the batch forms do without

    return view(state).board

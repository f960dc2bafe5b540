"""Dice luck in games with a live cube: each roll's luck at the stake and with the cube that it was rolled with.

The cube's value and owner belong to the pre-roll state and turning it is no chance event, so ``luck = value x (h(s, d) - sum
over d' of p(d') h(s, d'))`` has mean zero for any ``h``, and subtracting it leaves the expected result where it was. Two
choices of ``h``, the points per unit of the cube after the mover's cubeless best play by GNUBG's 0-ply: ``cubeless``, its
cubeless equity, and ``cubeful``, its equity by Janowski's model, the opponent doubling and the mover answering as is best.
Which takes away more variance is a matter of measurement. No random numbers are drawn here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Step, Turns
from raccoon.cube.choice import worth
from raccoon.cube.model import Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.outcomes import points_from_five, six_from_five
from raccoon.engine.rolls import roll_index, roll_means
from raccoon.env.board import START, terminal_points
from raccoon.env.lookup import Lookup
from raccoon.env.movegen import ROLLS

__all__ = ["CONTROLS", "CubeLuckObserver", "cube_roll_values"]

CONTROLS = ("cubeful", "cubeless")


def cube_roll_values(boards: Boards, cubes: Cubes, engine: GnubgEngine, model: Janowski) -> NDArray[np.float64]:
    """``float64[N, 21, 2]``: points to the mover *at the cube's value* after its best play of each roll, by each of ``CONTROLS``.

    ``cubes`` as at the roll. Raises RaccoonError on illegal or finished boards.
    """
    plays, probs5 = engine.roll_plays(boards)
    children = plays.reshape(-1, 2, 25)
    theirs = cubes.take(np.repeat(np.arange(len(boards)), len(ROLLS))).flipped()
    five = probs5.reshape(-1, 5)
    cubeful = worth(model, six_from_five(five), children, theirs)
    over = terminal_points(children)
    cubeless = np.where(over == 0, points_from_five(five), model.finished(over.astype(np.float64), theirs))
    found = -np.stack([cubeful, cubeless], axis=1).reshape(len(boards), len(ROLLS), 2)
    return found * cubes.value[:, None, None]


class CubeLuckObserver:
    """Adds up the luck of player 0 in each game of money play with a live cube. Watches only; needs no dice of its own.

    ``games int64[G]``: the games that will be played; ``luck float64[G, 2]`` is aligned with it, a column for each of ``CONTROLS``.
    """

    def __init__(self, games: NDArray[np.int64]) -> None:
        self._place = Lookup(games)
        self._engine, self._model = GnubgEngine(0), Janowski(bearoff=False)
        self.luck = np.zeros((len(games), 2), np.float64)

    def rolled(self, step: Step) -> None:
        """Add the luck of this roll."""
        luck = self.of(step.boards, step.dice, step.cubes, step.roll == 0)
        rows = self._place.find(step.games)
        self.luck[rows] += np.where(step.mover == 0, 1.0, -1.0)[:, None] * luck

    def of(self, boards: Boards, dice: NDArray[np.int8], cubes: Cubes, opening: NDArray[np.bool_]) -> NDArray[np.float64]:
        """``float64[N, 2]``: luck of the side on roll. ``opening bool[N]``: the roll decided who starts; its mean is 0 by symmetry."""
        out = np.empty((len(boards), 2))
        index = roll_index(dice)
        if opening.any():
            # the position is the same for all, and so is the cube
            start = cube_roll_values(START[None], cubes.take(np.flatnonzero(opening)[:1]), self._engine, self._model)[0]
            out[opening] = start[index[opening]]
        later = np.flatnonzero(~opening)
        if len(later):
            values = cube_roll_values(boards[later], cubes.take(later), self._engine, self._model)
            means = np.stack([roll_means(values[:, :, column]) for column in range(2)], axis=1)
            out[later] = values[np.arange(len(later)), index[later]] - means
        return out

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Nothing: luck does not depend on the play."""

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing."""

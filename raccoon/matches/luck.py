"""Luck of the rolls of a match: what the roll is worth after its best play, minus the mean over the dice, by an engine's static values.

As GNU Backgammon counts it: cubeful, with the cube and at the score of the roll, the other side doubling and answering as is best. An
engine without outcome chances, and a game without a cube, count cubeless points.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CubeModel, Engine
from raccoon.cube.choice import worth
from raccoon.engine.rolls import roll_index, roll_means
from raccoon.env import ragged
from raccoon.env.board import swap
from raccoon.env.formats.xgid import Position
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLLS, afterstates_all_rolls
from raccoon.search.analysis.questions import Question
from raccoon.search.analysis.records import Unit

__all__ = ["Luck", "luck_of_roll"]

_UNEQUAL = ROLLS[:, 0] != ROLLS[:, 1]


class Luck(NamedTuple):
    """To the side that rolled. ``equity``: points per unit of the cube, normalised at a match score; ``stake``: points with the cube in
    money play, match winning chance in a match."""

    equity: float
    stake: float


def luck_of_roll(position: Position, opening: bool, engine: Engine, model: CubeModel | None) -> Luck:
    """The luck of ``position.dice``. ``opening``: the roll decided who begins, so that its mean is over both players' rolls."""
    used = model if engine.has_probs and Question(position, True).cubes.rules is not None else None
    cubes = None if used is None else Question(position, True).cubes
    values = _values(position, engine, used)
    got = float(values[roll_index(np.array([position.dice], np.int8))[0]])
    if opening:
        other = replace(position, board=swap(position.board), score=position.score[::-1], turn=-position.turn)
        mean = float((values[_UNEQUAL].sum() - _values(other, engine, used)[_UNEQUAL].sum()) / (2 * _UNEQUAL.sum()))
    else:
        mean = float(roll_means(values[None])[0])
    unit = Unit(cubes)
    equity = unit.equity(got) - unit.equity(mean)
    return Luck(equity, (got - mean) / 2.0 if unit.match else equity * position.cube_value)


def _values(position: Position, engine: Engine, model: CubeModel | None) -> NDArray[np.float64]:
    """``float64[21]``: of the best play of each roll to the mover, in the unit of the cube model or cubeless points."""
    children, offsets = afterstates_all_rolls(position.board[None])
    first, inverse = unique_boards(children)
    boards = children[first]
    if model is None:
        found = 3.0 * np.asarray(engine.value(boards), np.float64)
    else:
        rows = np.zeros(len(boards), np.int64)
        theirs = Question(position, True).cubes.take(rows).flipped()
        found = worth(model, engine.probs6(boards), boards, theirs)
    return ragged.row_max(-found[inverse], offsets)

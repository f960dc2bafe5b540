"""Best play after each of the 21 rolls, valued by any engine: the sweep behind luck and exact backups."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.env import ragged
from raccoon.env.board import unfinished
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates_all_rolls, check_dice

__all__ = ["PointsEngine", "best_of_rolls", "dice_of", "plays_of_rolls", "roll_index", "roll_means"]

_INDEX = np.full((7, 7), -1, np.int64)
_INDEX[ROLLS[:, 0], ROLLS[:, 1]] = _INDEX[ROLLS[:, 1], ROLLS[:, 0]] = np.arange(len(ROLLS))


class PointsEngine(Protocol):
    """An engine that gives ``points(boards) -> float64[N]`` to the side on roll (``EngineBase`` does)."""

    def points(self, boards: Boards) -> NDArray[np.float64]:
        """Money points at cube 1 of pre-roll boards to the side on roll; finished boards exact."""
        ...


def best_of_rolls(boards: Boards, engine: PointsEngine) -> NDArray[np.float64]:
    """``float64[N, 21]``: points to the mover after its best play of each roll, in ``movegen.ROLLS`` order.

    Best by the engine's own points of the whole turn. A roll that ends the game counts exactly 1, 2 or 3; a dance is
    minus the points of the swapped board. Raises RaccoonError on illegal or finished boards.
    """
    children, offsets = afterstates_all_rolls(unfinished(boards))
    first, inverse = unique_boards(children)
    points = -engine.points(children[first])
    best = ragged.row_max(points[inverse], offsets)
    return best.reshape(-1, 21)


def plays_of_rolls(boards: Boards, engine: PointsEngine) -> Boards:
    """``int8[N, 21, 2, 25]``: the afterstate of the best play of each roll; as in ``best_of_rolls``, the first of equals."""
    children, offsets = afterstates_all_rolls(unfinished(boards))
    first, inverse = unique_boards(children)
    points = -engine.points(children[first])[inverse]
    return children[ragged.argmax(points, offsets)].reshape(-1, 21, 2, 25)


def roll_index(dice: NDArray[np.int8]) -> NDArray[np.int64]:
    """``int64[N]``: position in ``ROLLS`` of ``dice [N, 2]`` in either order. Raises RaccoonError when a die is not 1..6."""
    dice = check_dice(dice, len(dice))
    return _INDEX[dice[:, 0], dice[:, 1]]


def dice_of(outcome: NDArray[np.int64]) -> NDArray[np.int8]:
    """``int8[N, 2]``: the two dice of each of the 36 equally likely outcomes 0..35: 11, 12, .., 16, 21, .., 66."""
    return np.stack([outcome // 6 + 1, outcome % 6 + 1], axis=1).astype(np.int8)


def roll_means(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[N]``: average of ``points [N, 21]`` over the dice, summed in a fixed order so that no row depends on N."""
    return np.cumsum(points * ROLL_PROBS, axis=1)[:, -1]

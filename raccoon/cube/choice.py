"""What the two sides choose of what the cube offers them: waiting, doubling, taking, passing, beavering; and what a board is then worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeEquities, CubeModel, Cubes
from raccoon.env.board import terminal_points

__all__ = ["OWNERS", "beavered", "best_of", "should_double", "should_take", "with_beavers", "worth"]

OWNERS = (CENTRED, OWNED, OPPONENT)
"""Order of the columns of ``by_owner``: an owner (0, 1 or -1) is the index of its own column."""


def with_beavers(doubled: NDArray[np.float64], cubes: Cubes) -> NDArray[np.float64]:
    """``dt`` of rows ``doubled`` (to the doubler, ``cubes`` before the double): where it is negative and the taker may beaver, it does."""
    return beavered(doubled, cubes.may_beaver())


def beavered(doubled: NDArray[np.float64], may_beaver: NDArray[np.bool_]) -> NDArray[np.float64]:
    """``dt`` of rows ``doubled``, the taker beavering where it ``may_beaver`` and that is best for it. Kernels compile it for numbers."""
    return np.where((doubled < 0) & may_beaver, 2.0 * doubled, doubled)


def should_double(equities: CubeEquities) -> NDArray[np.bool_]:
    """``bool[...]``: is doubling, where it is allowed, worth more than waiting, the other side answering as is best for it?"""
    nd, dt, dp = equities
    return np.minimum(dt, dp) > nd


def should_take(equities: CubeEquities) -> NDArray[np.bool_]:
    """``bool[...]``: does taking cost the side that is doubled less than passing?"""
    return equities.dt < equities.dp


def best_of(equities: CubeEquities, may_double: NDArray[np.bool_]) -> NDArray[np.float64]:
    """``float64[N]``: to the side on roll when both sides choose what is best for them."""
    nd, dt, dp = equities
    return np.where(may_double, np.maximum(nd, np.minimum(dt, dp)), nd)


def worth(model: CubeModel, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
    """``float64[N]``: equity to the side on roll of ``boards`` with outcome chances ``probs6 [N, 6]``, both sides choosing what is best for
    them. Finished games, whose chances are not read, are exact."""
    points = terminal_points(boards)
    found = np.asarray(model.finished(points.astype(np.float64), cubes), np.float64)
    live = np.flatnonzero(points == 0)
    if len(live):
        found[live] = model.optimal(probs6[live], boards[live], cubes.take(live))
    return found

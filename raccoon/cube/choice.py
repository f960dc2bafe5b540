"""What the two sides choose of what the cube offers them: waiting, doubling, taking, passing, beavering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeEquities, Cubes

__all__ = ["OWNERS", "best_of", "should_double", "should_take", "with_beavers"]

OWNERS = (CENTRED, OWNED, OPPONENT)
"""Order of the columns of ``by_owner``: an owner (0, 1 or -1) is the index of its own column."""


def with_beavers(doubled: NDArray[np.float64], cubes: Cubes) -> NDArray[np.float64]:
    """``dt`` of rows ``doubled`` (to the doubler, ``cubes`` before the double): where it is negative and the taker may beaver, it does."""
    return np.where((doubled < 0) & cubes.may_beaver(), 2.0 * doubled, doubled)


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

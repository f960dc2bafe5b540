"""Janowski's cube model for money games: cubeless probabilities to cubeful equities.

Rick Janowski, "Take-Points in Money Games" (1993), in the piecewise form that GNU Backgammon and Open Sage ship: the live
equity is pinned at -L (p = 0), -1 (take point), +1 (cash point) and +W (p = 1) and interpolated between. The equity is a
blend ``(1 - x) dead + x live`` with the cube-life index ``x``, one for all owners.

Everything is in points at a cube of 1, to the player on roll, and vectorised: ``probs5 [..., 5]`` are GNUBG's cumulative
``(win, win_g+, win_bg, lose_g+, lose_bg)``; ``owner`` is a label of ``raccoon.cube.state`` or its code, one or an array.
The equity is that of not doubling now. ``jacoby``: is the game played with the Jacoby rule? It counts gammons as one point
only while the cube is centred; see ``jacoby_active``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon import cube_rules
from raccoon.checks import quoted
from raccoon.contracts import OPPONENT, OWNED, Boards, CubeEquities, RaccoonError
from raccoon.cube.choice import should_double, should_take
from raccoon.cube.state import owner_codes
from raccoon.engine.outcomes import five_from_six
from raccoon.env.board import is_race

__all__ = [
    "X_CONTACT",
    "X_RACE",
    "CubeAction",
    "CubeEquities",
    "cl2cf_money",
    "compute_wl",
    "cube_action",
    "cube_equities",
    "cube_index",
    "jacoby_active",
    "money_live",
    "probs6_to_cumulative5",
]

X_CONTACT, X_RACE = 0.68, 0.60
"""Cube-life index of contact positions and of races, as published."""
_TINY = 1e-7


class CubeAction(NamedTuple):
    """``double bool[...]`` for the player on roll, ``take bool[...]`` for its opponent."""

    double: NDArray[np.bool_]
    take: NDArray[np.bool_]


def probs6_to_cumulative5(probs6: ArrayLike) -> NDArray[np.float64]:
    """``[..., 5]`` cumulative probabilities of exclusive ``probs6 [..., 6]``."""
    return five_from_six(np.asarray(probs6, np.float64))


def cube_index(boards: Boards, contact: float = X_CONTACT, race: float = X_RACE) -> NDArray[np.float64]:
    """``float64[N]``: cube-life index of each board: ``race`` where contact is over, else ``contact``."""
    return np.where(is_race(boards), race, contact)


def jacoby_active(owner: Any, rule: bool) -> Any:
    """Whether the Jacoby rule applies: only while the cube is centred. A bool, or ``bool[...]`` for an array of owners."""
    active = cube_rules.jacoby_active(owner_codes(owner), rule)
    return bool(active) if active.ndim == 0 else active


def compute_wl(probs5: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``(W, L)``: average points of a win and of a loss, each at least 1 (and 1 where there are none)."""
    win, gammon, backgammon, lost_gammon, lost_backgammon = np.moveaxis(_five(probs5), -1, 0)
    return _average(win, gammon + backgammon), _average(1.0 - win, lost_gammon + lost_backgammon)


def _average(p: NDArray[np.float64], extra: NDArray[np.float64]) -> NDArray[np.float64]:
    # Measured probabilities can be slightly negative, and p tiny: no win is worth less than a point.
    some = p > _TINY
    return np.where(some, np.maximum(1.0, 1.0 + extra / np.where(some, p, 1.0)), 1.0)


def money_live(p: ArrayLike, w: ArrayLike, l: ArrayLike, owner: Any, jacoby: ArrayLike = False) -> NDArray[np.float64]:  # noqa: E741
    """Equity of a perfectly live cube at winning chance ``p``, wins worth ``w`` and losses ``l`` points; all broadcast."""
    p, w, lo = (np.asarray(value, np.float64) for value in (p, w, l))
    owner = owner_codes(owner)
    # pinned points: what both sides get at and beyond the take and cash points
    active = cube_rules.jacoby_active(owner, jacoby)
    low, high = np.where(active, 1.0, lo), np.where(active, 1.0, w)
    take, cash = (lo - 0.5) / (w + lo + 0.5), (lo + 1.0) / (w + lo + 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = np.where(
            p < take,
            -low + (low - 1.0) * p / take,
            np.where(p < cash, -1.0 + 2.0 * (p - take) / (cash - take), 1.0 + (high - 1.0) * (p - cash) / (1.0 - cash)),
        )
        owned = np.where(p < cash, -lo + (1.0 + lo) * p / cash, 1.0 + (w - 1.0) * (p - cash) / (1.0 - cash))
        theirs = np.where(p < take, -lo + (lo - 1.0) * p / take, -1.0 + (w + 1.0) * (p - take) / (1.0 - take))
    return np.select([owner == OWNED, owner == OPPONENT], [owned, theirs], centred)


def cl2cf_money(probs5: ArrayLike, owner: Any, x: ArrayLike, jacoby: ArrayLike = False) -> NDArray[np.float64]:
    """Cubeful equity (points at this cube) of cubeless ``probs5 [..., 5]``, the cube staying where it is this turn.

    ``x``: cube-life index, 0 dead to 1 live. Lies in [-L, W], in [-1, 1] under active Jacoby. Raises RaccoonError for an
    ``x`` outside [0, 1] or another shape.
    """
    five, codes, index = _five(probs5), owner_codes(owner), np.asarray(x, np.float64)
    if not ((index >= 0) & (index <= 1)).all():
        raise RaccoonError(f"cube-life index x={quoted(x)}: give a number from 0 to 1")
    w, lo = compute_wl(five)
    p = five[..., 0]
    active = cube_rules.jacoby_active(codes, jacoby)
    dead = np.where(active, 2.0 * p - 1.0, p * w - (1.0 - p) * lo)
    return (1.0 - index) * dead + index * money_live(p, w, lo, codes, active)


def cube_equities(probs5: ArrayLike, owner: Any, x: ArrayLike, jacoby: ArrayLike = False) -> CubeEquities:
    """What each choice is worth to the player on roll; see ``CubeEquities``. Whether the side may double does not count."""
    now = cl2cf_money(probs5, owner, x, jacoby)
    taken = 2.0 * cl2cf_money(probs5, np.full(now.shape, OPPONENT, np.int8), x)
    return CubeEquities(now, taken, np.ones_like(now))


def cube_action(probs5: ArrayLike, owner: Any, x: ArrayLike, jacoby: ArrayLike = False) -> CubeAction:
    """Double when ``min(dt, 1) > nd`` and the cube is not the opponent's; take when ``dt < 1``."""
    found = cube_equities(probs5, owner, x, jacoby)
    return CubeAction(should_double(found) & (owner_codes(owner) != OPPONENT), should_take(found))


def _five(probs5: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(probs5, np.float64)
    if array.shape[-1:] != (5,):
        raise RaccoonError(f"probs5 of shape {array.shape}: give [..., 5] (win, win_g+, win_bg, lose_g+, lose_bg)")
    return array

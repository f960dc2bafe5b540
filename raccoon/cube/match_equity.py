"""Janowski's cube model at match scores, as GNU Backgammon and Open Sage carry it over from money games.

Equities are match equities on the scale ``2 MWC - 1``: -1 the match is lost, 1 won (MWC: match winning chance, from the table in
``raccoon.cube.match_equity_table``). As in money play the equity is a blend ``(1 - x) dead + x live``. The live one runs linearly
through what both sides get at 0, at the other side's cash point, at one's own cash point and at 1, where games won and
lost at present stakes are averaged over gammons and backgammons. Cash points differ between the sides and with the level
of the cube: a side cashes where the other is indifferent between passing and playing on with *its* live cube at twice
the value, so they follow from those one level up, and so on until the cube is of no use to either side.

Everything is vectorised over positions. Match play knows neither Jacoby nor beavers; the cap on the cube is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import OPPONENT, OWNED, Cubes, RaccoonError
from raccoon.cube import match_equity_table
from raccoon.cube.janowski import CubeEquities

__all__ = ["after", "cash_points", "equities", "no_double"]

_TINY = 1e-7
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Scores:
    """Away scores of the rows, ``[N]`` each, and whether the games to come are post-Crawford."""

    mine: NDArray[np.intp]
    theirs: NDArray[np.intp]
    post: NDArray[np.intp]

    @classmethod
    def of(cls, cubes: Cubes) -> _Scores:
        """Raises RaccoonError for money games and for scores that are no score of a running match of the table."""
        if cubes.away is None:
            raise RaccoonError("cubes.away is None: match equities need the score; give away int16[N, 2] and crawford bool[N]")
        away = cubes.away.astype(np.intp)
        if len(away) and away.min() < 1:
            raise RaccoonError(f"cubes.away: {int(away.min())} points to go; a match is over when a side needs none")
        match_equity_table.check_away(away)
        # With a side 1 away this is the Crawford game or a later one, and what follows it is post-Crawford either way.
        return cls(away[:, 0], away[:, 1], (away == 1).any(axis=1).astype(np.intp))

    def after(self, points: ArrayLike) -> _Floats:
        """Match winning chance of the side on roll once it has won ``points int[N]`` more (negative: the other side)."""
        mine = np.maximum(self.mine - np.maximum(points, 0), 0)
        return match_equity_table.table()[self.post, mine, np.maximum(self.theirs + np.minimum(points, 0), 0)]

    def averages(self, shares: _Shares, value: NDArray[np.intp]) -> tuple[_Floats, _Floats]:
        """``(won, lost)``: mean winning chance after a game won, and after one lost, at a cube of ``value``."""
        won = sum(share * self.after((k + 1) * value) for k, share in enumerate(shares.won))
        lost = sum(share * self.after(-(k + 1) * value) for k, share in enumerate(shares.lost))
        return np.asarray(won), np.asarray(lost)


@dataclass(frozen=True)
class _Shares:
    """Winning chance ``p [N]``; of the games ``won`` and ``lost``, the shares of single games, gammons and backgammons."""

    p: _Floats
    won: tuple[_Floats, _Floats, _Floats]
    lost: tuple[_Floats, _Floats, _Floats]

    @classmethod
    def of(cls, probs5: ArrayLike) -> _Shares:
        five = np.asarray(probs5, np.float64)
        if five.ndim != 2 or five.shape[1] != 5:
            raise RaccoonError(f"probs5 of shape {five.shape}: give [N, 5] (win, win_g+, win_bg, lose_g+, lose_bg)")
        p = five[:, 0]
        return cls(p, _kinds(p, five[:, 1], five[:, 2]), _kinds(1.0 - p, five[:, 3], five[:, 4]))


def _kinds(p: _Floats, gammons: _Floats, backgammons: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    some = p > _TINY
    of = np.where(some, p, 1.0)
    gammon, backgammon = np.where(some, gammons / of, 0.0), np.where(some, backgammons / of, 0.0)
    return 1.0 - gammon, gammon - backgammon, backgammon


def after(points: ArrayLike, cubes: Cubes) -> _Floats:
    """``float64[N]``: match equity to the side on roll of ``cubes`` once the game has ended with ``points [N]``.

    ``points`` are whole numbers with the cube in them, positive where the side on roll has won. A game with a side 1 away is
    followed by post-Crawford games; one in which a side gets to 1 away, by the Crawford game. Raises RaccoonError without a score.
    """
    whole = np.rint(np.asarray(points, np.float64)).astype(np.intp)
    return 2.0 * _Scores.of(cubes).after(whole) - 1.0


def cash_points(probs5: ArrayLike, cubes: Cubes) -> tuple[_Floats, _Floats]:
    """``float64[N]`` each: live cash point of the side on roll and of the other side, each in *its own* winning chance.

    The least chance at which the other side may as well pass a double, with live cubes ever after; 1 where doubling is of no
    use. ``probs5 [N, 5]`` of the side on roll gives the shares of gammons. Who owns the cube does not count.
    """
    return _cash_points(_Shares.of(probs5), _Scores.of(cubes), cubes.value.astype(np.intp))


def _cash_points(shares: _Shares, scores: _Scores, value: NDArray[np.intp]) -> tuple[_Floats, _Floats]:
    mine, theirs = np.ones(len(value)), np.ones(len(value))
    least, longest = int(value.min(initial=match_equity_table.LONGEST)), int(np.maximum(scores.mine, scores.theirs).max(initial=0))
    levels = 0
    while least << levels < longest:
        levels += 1
    for level in reversed(range(levels)):  # from a cube that is dead to both sides down to the present one
        stake = value << level
        won, lost = scores.averages(shares, 2 * stake)
        plus, minus = scores.after(2 * stake), scores.after(-2 * stake)
        # A side that passes has `after(stake)` against it; playing on with its own cube at 2 stakes it gets from a game
        # lost (at winning chance 0) to a cash (at its cash point there), linearly.
        mine, theirs = (
            1.0 - theirs * (won - scores.after(stake)) / (won - minus),
            1.0 - mine * (scores.after(-stake) - lost) / (plus - lost),
        )
    return mine, theirs


def no_double(probs5: ArrayLike, x: ArrayLike, cubes: Cubes) -> _Floats:
    """``float64[N]``: match equity to the side on roll when it does not double now.

    ``probs5 [N, 5]`` cumulative cubeless chances of the side on roll, ``x`` cube-life index (0 dead to 1 live; one or ``[N]``).
    In a Crawford game the cube is dead. Raises RaccoonError for other shapes and scores out of the table.
    """
    shares, scores, value = _Shares.of(probs5), _Scores.of(cubes), cubes.value.astype(np.intp)
    p = shares.p
    won, lost = scores.averages(shares, value)
    dead = p * won + (1.0 - p) * lost
    cash, pass_ = scores.after(value), scores.after(-value)
    mine, theirs = _cash_points(shares, scores, value)
    # Someone else's cube has no cash point to it: that corner of the line is left out.
    high, high_at = np.where(cubes.owner == OPPONENT, won, cash), np.where(cubes.owner == OPPONENT, 1.0, mine)
    low, low_at = np.where(cubes.owner == OWNED, lost, pass_), np.where(cubes.owner == OWNED, 0.0, 1.0 - theirs)
    live = np.where(
        p < low_at,
        lost + (low - lost) * _share(p, 0.0, low_at),
        np.where(p < high_at, low + (high - low) * _share(p, low_at, high_at), high + (won - high) * _share(p, high_at, 1.0)),
    )
    index = np.asarray(x, np.float64) if cubes.crawford is None else np.where(cubes.crawford, 0.0, x)
    return 2.0 * ((1.0 - index) * dead + index * live) - 1.0


def _share(p: _Floats, start: _Floats | float, stop: _Floats | float) -> _Floats:
    """How far ``p`` has come from ``start`` to ``stop``; 1 where there is no way to go."""
    way = np.zeros_like(p) + stop - start
    return np.divide(p - start, way, out=np.ones_like(p), where=way > 0)


def equities(probs5: ArrayLike, x: ArrayLike, cubes: Cubes) -> CubeEquities:
    """``(nd, dt, dp)`` as match equities to the side on roll; see ``no_double``. Whether the side may double does not count."""
    doubled = replace(cubes, value=2 * cubes.value.astype(np.int64), owner=np.full(len(cubes), OPPONENT, np.int8))
    return CubeEquities(no_double(probs5, x, cubes), no_double(probs5, x, doubled), after(cubes.value, cubes))

"""At which winning chances the cube decisions of a position change, and what gammons are worth: where the lines of a cube model cross.

The shares of gammons and backgammons among games won and among games lost stay those of the position; only the winning chance
moves. Any cube model has these points, in money play and at match scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import OUTCOME_POINTS, Boards, CubeModel, Cubes

__all__ = ["decision_points", "gammon_values"]

_GRIDS = (512, 64, 64)  # the first one must be finer than the narrowest window of a decision
_TINY = 1e-9
_Floats = NDArray[np.float64]
_Lines = Callable[[_Floats], tuple[_Floats, _Floats, _Floats]]
"""Not doubling, double and take, double and pass at each winning chance."""


def decision_points(model: CubeModel, probs6: ArrayLike, board: Boards, cubes: Cubes) -> dict[str, float | None] | None:
    """Winning chances of the side on roll, of one position with its cube (one row); None where it may not double.

    ``double``: from here doubling is right; ``cash``: from here the other side passes; ``too_good``: from here playing on for a gammon is
    worth more than the cash; ``beaver``: up to here a double would be beavered, under rules that allow it. ``take`` is the other side's
    own winning chance from which it takes, ``1 - cash``. Each is None where there is no such point. ``probs6 [6]`` of the side on roll,
    ``board int8[2, 25]``. None as well where the model's equities do not come from chances (exact last rolls).
    """
    if not cubes.may_double()[0]:
        return None
    six = np.asarray(probs6, np.float64)
    won, lost = _shares(six[:3]), _shares(six[3:])

    def lines(p: _Floats) -> tuple[_Floats, _Floats, _Floats]:
        chances = np.concatenate([p[:, None] * won, (1.0 - p)[:, None] * lost], axis=1)
        return model.equities(chances, np.repeat(board[None], len(p), axis=0), cubes.take(np.zeros(len(p), np.int64)))

    nd = lines(np.array([0.0, 1.0]))[0]
    if nd[0] == nd[1]:
        return None
    cash = _first(lambda nd, dt, dp: dt - dp, lines)
    return {
        "double": _first(lambda nd, dt, dp: np.minimum(dt, dp) - nd, lines),
        "cash": cash,
        "too_good": _first(lambda nd, dt, dp: nd - dp, lines),
        "beaver": _first(lambda nd, dt, dp: dt, lines) if cubes.may_beaver()[0] else None,
        "take": None if cash is None else 1.0 - cash,
    }


def gammon_values(model: CubeModel, cubes: Cubes) -> dict[str, float]:
    """What a gammon adds to a game won, and what one lost costs beyond the game, in units of the difference between winning and
    losing a plain game at this cube; the same for backgammons beyond gammons. One half each in money play, 0 while Jacoby counts no
    gammons. ``cubes``: one row, seen from the side on roll."""
    ends = model.finished(OUTCOME_POINTS, cubes.take(np.zeros(6, np.int64)))
    unit = ends[0] - ends[3]
    found = {
        "gammon": ends[1] - ends[0],
        "backgammon": ends[2] - ends[1],
        "lost_gammon": ends[3] - ends[4],
        "lost_backgammon": ends[4] - ends[5],
    }
    return {name: float(value / unit) for name, value in found.items()}


def _shares(three: _Floats) -> _Floats:
    """Of games won (or lost): plain ones, gammons, backgammons; all plain where there are none."""
    three = np.maximum(three, 0.0)
    total = three.sum()
    return three / total if total > _TINY else np.array([1.0, 0.0, 0.0])


def _first(difference: Callable[[_Floats, _Floats, _Floats], _Floats], lines: _Lines) -> float | None:
    """The first winning chance from which ``difference`` of the lines is above 0; None where it is nowhere. It is piecewise linear, so
    that ever finer grids find it."""
    low, high = 0.0, 1.0
    for cells in _GRIDS:
        grid = np.linspace(low, high, cells + 1)
        over = difference(*lines(grid)) > _TINY
        place = int(np.argmax(over))
        if not over.any():
            return None
        if place == 0:
            return low
        low, high = float(grid[place - 1]), float(grid[place])
    return (low + high) / 2.0

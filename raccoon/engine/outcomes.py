"""Outcome distributions in their two forms: six exclusive chances and GNUBG's cumulative five. One point of view throughout."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raccoon.env.kernels import kernel

__all__ = ["FLIPPED", "exact_probs6", "five_from_six", "flip", "nested", "points_from_five", "six_from_five"]

FLIPPED = [3, 4, 5, 0, 1, 2]
"""Order of the six chances for the other side; see ``flip``."""

_Float = TypeVar("_Float", bound=np.floating[Any])
_FIVE_POINTS = np.array([2.0, 1.0, 1.0, -1.0, -1.0])


def flip(probs6: NDArray[_Float]) -> NDArray[_Float]:
    """The six chances ``[..., 6]`` seen from the other side."""
    return probs6[..., FLIPPED]


def exact_probs6(points: NDArray[np.integer]) -> NDArray[np.float32]:
    """One-hot ``float32[N, 6]`` of finished games (``points`` -3..3 to the side on roll); zero rows where points is 0."""
    probs = np.zeros((len(points), 6), np.float32)
    done = np.flatnonzero(points != 0)
    size = np.abs(points[done]).astype(np.int64) - 1
    probs[done, np.where(points[done] > 0, size, size + 3)] = 1.0
    return probs


def six_from_five(probs5: NDArray[np.floating]) -> NDArray[np.float64]:
    """Exclusive six ``float64[N, 6]`` from the cumulative five (win, win_g+, win_bg, lose_g+, lose_bg).

    Differences, clipped at 0 and renormalised: evaluators give slightly inconsistent numbers now and then.
    """
    six = np.empty((len(probs5), 6))
    _exclusive(np.ascontiguousarray(probs5, np.float64), six)
    return six


def five_from_six(probs6: NDArray[Any]) -> NDArray[np.float64]:
    """Cumulative ``float64[..., 5]`` of exclusive ``[..., 6]``."""
    p = np.moveaxis(np.asarray(probs6, np.float64), -1, 0)
    return np.stack([p[0] + p[1] + p[2], p[1] + p[2], p[2], p[4] + p[5], p[5]], axis=-1)


def points_from_five(probs5: NDArray[np.floating]) -> NDArray[np.float64]:
    """``float64[N]``: money points at cube 1, cubeless, of the cumulative five: 2 win - 1 + win_g+ + win_bg - lose_g+ - lose_bg."""
    return np.asarray(probs5, np.float64) @ _FIVE_POINTS - 1.0


def nested(probs5: NDArray[np.floating], slack: float) -> NDArray[np.bool_]:
    """``bool[N]``: are the cumulative five chances within 0 and 1, a backgammon being a gammon and a gammon a win (or a loss)?

    ``slack``: how far they may miss that; what is no number does.
    """
    win, win_g, win_bg, lose_g, lose_bg = five = np.asarray(probs5, np.float64).T
    gaps = np.stack([*five, *(1 - five), win - win_g, win_g - win_bg, 1 - win - lose_g, lose_g - lose_bg])
    return np.asarray((gaps >= -slack).all(axis=0))


@kernel
def _exclusive(five: NDArray[np.float64], six: NDArray[np.float64]) -> None:
    for row in range(len(five)):
        win, gammon, backgammon, lost_gammon, lost_backgammon = five[row]
        six[row, 0] = max(win - gammon, 0.0)
        six[row, 1] = max(gammon - backgammon, 0.0)
        six[row, 2] = max(backgammon, 0.0)
        six[row, 3] = max(1.0 - win - lost_gammon, 0.0)
        six[row, 4] = max(lost_gammon - lost_backgammon, 0.0)
        six[row, 5] = max(lost_backgammon, 0.0)
        total = six[row].sum()
        for i in range(6):
            six[row, i] /= total

"""Value targets of AlphaZero for either head, as pure functions of outcome distributions. No Lightning here.

A state's target is ``alpha`` times the game's result plus ``1 - alpha`` times what the search thought the state was worth. The search
knows one number, not six chances: it is spread over them by tilting the network's own distribution ``p`` of the state,
``w_i = p_i exp(t x_i) / sum``, with ``x`` the points of the outcomes and ``t`` such that the equity is that number. Of all
distributions with that equity this is the nearest to ``p`` (in relative entropy; Csiszar 1975): results alone teach how
often games end in gammons, the search how much a state is worth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import OUTCOME_POINTS
from raccoon.engine.outcomes import flip
from raccoon.env import ragged

__all__ = ["blended", "results", "tilted"]

_EDGE = 1e-6
_STEPS = 60


def results(final: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """``float64[N, 6]``: how each game ended, to the side on roll of every row of the games ``offsets``.

    ``final float64[G, 6]``: of each game's last row, to the side on roll there; the sides change with every row.
    """
    back = ragged.spread(offsets[1:] - 1, offsets) - np.arange(offsets[-1])
    ends = ragged.spread(final, offsets)
    return np.where((back % 2 == 1)[:, None], flip(ends), ends)


def tilted(probs6: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[N, 6]``: ``probs6 [N, 6]`` tilted to equity / 3 = ``value [N]``, which is clipped to [-1, 1].

    By bisection, to 1e-9 of the value. A chance of 0 counts as 1e-6, lest no tilt reach the value.
    """
    p = np.maximum(probs6, _EDGE)
    logs, x = np.log(p), OUTCOME_POINTS / 3.0
    wanted = np.clip(value, -1.0 + _EDGE, 1.0 - _EDGE)
    low, high = np.full(len(p), -100.0), np.full(len(p), 100.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        less = _tilt(logs, x, middle) @ x < wanted
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return _tilt(logs, x, (low + high) / 2.0)


def blended(result: NDArray[np.float64], searched: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """``float64[N, 6]``: ``alpha`` times ``result`` plus the rest of ``searched``, both ``[N, 6]`` of the side on roll."""
    return alpha * result + (1.0 - alpha) * searched


def _tilt(logs: NDArray[np.float64], x: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = logs + by[:, None] * x
    with np.errstate(under="ignore"):
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)

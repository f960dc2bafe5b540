"""The weighted mean of several engines: averaged teachers make smaller errors than each of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number
from raccoon.contracts import Boards, Engine, RaccoonError
from raccoon.engine.base import EngineBase

__all__ = ["MixtureEngine"]


class MixtureEngine(EngineBase):
    """Means of the values and outcome probabilities of ``engines`` (by name), each counted by its entry of ``weights`` over their sum.

    ``weights`` null: all count alike; an engine of weight 0 is not asked. Probabilities are known when every engine that counts
    knows them. Raises RaccoonError when the weights are not those of the engines.
    """

    def __init__(self, engines: Mapping[str, Engine], weights: Mapping[str, float] | None = None, name: str | None = None) -> None:
        if not engines:
            raise RaccoonError("engine.engines: name one engine or more")
        shares = dict.fromkeys(engines, 1.0) if weights is None else dict(weights)
        if set(shares) != set(engines):
            raise RaccoonError(f"engine.weights: give a weight for each of {', '.join(engines)} (given: {', '.join(shares)})")
        most = max(number(f"engine.weights.{key}", share, "a number of 0 or more") for key, share in shares.items())
        if most <= 0:
            raise RaccoonError("engine.weights: one of them must be above 0")
        shares = {key: share / most for key, share in shares.items()}  # the sum of the largest numbers would be infinite
        total = sum(shares.values())
        super().__init__(name or "+".join(engine.name for engine in engines.values()))
        self.parts = [(engine, shares[key] / total) for key, engine in engines.items() if shares[key] > 0]
        self.has_probs = all(engine.has_probs for engine, _ in self.parts)

    def _value(self, live: Boards) -> NDArray[np.float64]:
        return np.sum([share * np.asarray(engine.value(live), np.float64) for engine, share in self.parts], axis=0)

    def _probs6(self, live: Boards) -> NDArray[np.float64]:
        return np.sum([share * np.asarray(engine.probs6(live), np.float64) for engine, share in self.parts], axis=0)

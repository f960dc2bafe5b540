"""An engine without judgement: a fixed pseudo-random value for each position. A floor and a test subject."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.engine.base import EngineBase
from raccoon.env.codec import position_keys
from raccoon.rng import hash64

__all__ = ["RandomEngine"]


class RandomEngine(EngineBase):
    """Values uniform on [-1, 1), a function of ``seed`` and the position alone: the same in any batch and any order."""

    has_probs = False

    def __init__(self, seed: int = 0, name: str | None = None) -> None:
        super().__init__(name or f"random{seed}")
        self.seed = seed

    def _value(self, live: Boards) -> NDArray[np.float64]:
        words = np.zeros((len(live), 16), np.uint8)
        words[:, :10] = position_keys(live)
        low, high = words.view(np.uint64).T
        return (hash64(self.seed, "random engine", low, high) >> np.uint64(11)).astype(np.float64) / 2.0**52 - 1.0

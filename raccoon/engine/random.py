"""An engine without judgement: a fixed pseudo-random value for each position. A floor and a test subject."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.engine.base import EngineBase
from raccoon.env.position_ids import position_words
from raccoon.rng import hash64, uniform

__all__ = ["RandomEngine"]


class RandomEngine(EngineBase):
    """Values uniform on [-1, 1), a function of ``seed`` and the position alone: the same in any batch and any order."""

    has_probs = False

    def __init__(self, seed: int = 0, name: str | None = None) -> None:
        super().__init__(name or f"random{seed}")
        self.seed = seed

    def _value(self, live: Boards) -> NDArray[np.float64]:
        return 2.0 * uniform(hash64(self.seed, "random engine", *position_words(live).T)) - 1.0

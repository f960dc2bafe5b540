"""An engine that counts pips."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.engine.base import EngineBase
from raccoon.env.board import pips

__all__ = ["PipEngine"]


class PipEngine(EngineBase):
    """The side that leads by ``scale`` pips is sure to win, as far as this engine knows."""

    has_probs = False

    def __init__(self, scale: float = 100.0) -> None:
        super().__init__("fixture_pips")
        self.scale = scale

    def _value(self, live: Boards) -> NDArray[np.float32]:
        count = pips(live).astype(np.float32)
        return np.clip((count[:, 0] - count[:, 1]) / np.float32(self.scale), -1, 1)

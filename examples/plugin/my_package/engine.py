"""Winning chances from the pip count alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase
from raccoon.env.board import pips


class PipEngine(EngineBase):
    """P(win) is logistic in the lead in pips, with the slope ``scale``; nobody wins a gammon."""

    has_probs = True

    def __init__(self, scale: float = 12.0, name: str | None = None) -> None:
        super().__init__(name or "my_pips")
        if scale <= 0:
            raise RaccoonError(f"engine.scale={scale}: give a number above 0")
        self.scale = scale

    def _probs6(self, live: Boards) -> NDArray[np.float64]:
        count = pips(live)  # int32[N, 2] in slot order: column 1 is the side on roll
        lead = count[:, 0] - count[:, 1] + 4.0  # to be on roll is worth half a roll
        probs = np.zeros((len(live), 6))
        probs[:, 0] = 0.5 + 0.5 * np.tanh(lead / (2 * self.scale))
        probs[:, 3] = 1.0 - probs[:, 0]
        return probs

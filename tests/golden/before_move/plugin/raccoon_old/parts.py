"""An engine and an evaluator on the old paths."""

from __future__ import annotations

import numpy as np

from raccoon import artifact
from raccoon.build import build
from raccoon.contracts import Boards, Figure, Report
from raccoon.engine.base import EngineBase
from raccoon.env.board import pips
from raccoon.eval import plots, report, stats
from raccoon.eval.matches import MatchPlan
from raccoon.eval.vr_arena import VRArena

__all__ = ["OldArena", "OldPips"]
USED = (artifact.load, build, Figure, Report, MatchPlan, plots, report.write, stats)


class OldPips(EngineBase):
    """The side that leads by ``scale`` pips is sure to win."""

    has_probs = False

    def __init__(self, scale: float = 100.0) -> None:
        super().__init__("old_pips")
        self.scale = scale

    def _value(self, live: Boards) -> np.ndarray:
        count = pips(live).astype(np.float32)
        return np.clip((count[:, 0] - count[:, 1]) / np.float32(self.scale), -1, 1)


class OldArena(VRArena):
    """An arena of its own."""

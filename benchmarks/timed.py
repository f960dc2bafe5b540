"""A network engine that knows how long it computed."""

from __future__ import annotations

import time
from typing import Any

from raccoon.contracts import Boards
from raccoon.engine.net import NetEngine

__all__ = ["TimedEngine"]


class TimedEngine(NetEngine):
    """Adds up the processor ``seconds`` of its forward passes (encoding included)."""

    seconds = 0.0

    def _run(self, boards: Boards) -> Any:
        began = time.process_time()
        out = super()._run(boards)
        self.seconds += time.process_time() - began
        return out

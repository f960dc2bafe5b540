"""Boards per second and core of the encoder's kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from raccoon.contracts import Boards
from raccoon.env.encoder import Encoder
from raccoon.testing import sample_boards

__all__ = ["rows"]

_BATCH = 4096


def rows() -> list[dict[str, Any]]:
    """``encode`` with all 26 planes and the flat form, in boards per second of one core (best of 30 calls)."""
    boards = sample_boards(_BATCH)
    encoder = Encoder()
    return [
        {"path": "encode, 26 planes", "measured": _rate(encoder.encode, boards), "unit": "boards/s", "bound": 500_000},
        {"path": "encode, flat (210)", "measured": _rate(encoder.encode_flat, boards), "unit": "boards/s", "bound": 500_000},
    ]


def _rate(run: Callable[[Boards], Any], boards: Boards) -> float:
    run(boards)
    best = float("inf")
    for _ in range(30):
        begin = time.process_time()  # of this process alone: the machine may be shared
        run(boards)
        best = min(best, time.process_time() - begin)
    return len(boards) / best

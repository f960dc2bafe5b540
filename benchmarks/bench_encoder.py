"""Boards per second and core of the encoder's kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raccoon.contracts import Boards
from raccoon.env.board import START
from raccoon.env.encoder import Encoder
from raccoon.env.movegen import afterstates_all_rolls

__all__ = ["rows"]

_BATCH = 4096


def rows() -> list[dict[str, Any]]:
    """``encode`` with all 26 planes and the flat form, in boards per second of one core (best of 30 calls)."""
    boards = _boards()
    encoder = Encoder()
    return [
        {"path": "encode, 26 planes", "measured": _rate(encoder.encode, boards), "unit": "boards/s", "bound": 500_000},
        {"path": "encode, flat (210)", "measured": _rate(encoder.encode_flat, boards), "unit": "boards/s", "bound": 500_000},
    ]


def _boards() -> Boards:
    second = afterstates_all_rolls(START[None])[0]
    third = afterstates_all_rolls(second[::5])[0]
    return np.ascontiguousarray(third[np.linspace(0, len(third) - 1, _BATCH).astype(int)])


def _rate(run: Callable[[Boards], Any], boards: Boards) -> float:
    run(boards)
    best = float("inf")
    for _ in range(30):
        begin = time.process_time()  # of this process alone: the machine may be shared
        run(boards)
        best = min(best, time.process_time() - begin)
    return len(boards) / best


if __name__ == "__main__":
    for row in rows():
        print(f"{row['path']:<24}{row['measured']:>12,.0f} {row['unit']:<10} bound {row['bound']:,.0f}")

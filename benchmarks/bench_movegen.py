"""Speed of the rules on one core: whole-turn generation, half-turn masks, deduplication by key.

Each figure is the best of many short passes over positions of random games, so that a busy machine disturbs it little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raccoon.env.half_moves import legal_mask
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLLS, afterstates, afterstates_all_rolls
from raccoon.testing import sample_boards

__all__ = ["rows"]


def _best(run: Callable[[], Any], seconds: float = 1.0) -> float:
    """Seconds of the fastest call within a budget."""
    run()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def rows() -> list[dict[str, Any]]:
    """``{path, measured, unit, bound}`` of each path; ``bound`` is the least it must reach."""
    boards = sample_boards(256)
    dice = np.tile(ROLLS, (13, 1))[:256]
    children, offsets = afterstates(boards, dice)
    turn = _best(lambda: afterstates(boards, dice))
    few = boards[:16]
    swept = len(afterstates_all_rolls(few)[0])
    sweep = _best(lambda: afterstates_all_rolls(few))
    unique = _best(lambda: unique_boards(children))
    masks = _best(lambda: legal_mask(boards, dice))
    return [
        {"path": "afterstates, 256 games", "measured": (len(offsets) - 1) / turn, "unit": "turns/s a core", "bound": 100_000},
        {"path": "afterstates, 256 games", "measured": len(children) / turn, "unit": "children/s a core", "bound": 2_000_000},
        {"path": "afterstates of all 21 rolls", "measured": swept / sweep, "unit": "children/s a core", "bound": 2_000_000},
        {"path": "unique boards", "measured": len(children) / unique, "unit": "boards/s a core", "bound": 5_000_000},
        {"path": "half-turn masks (1352)", "measured": len(boards) / masks, "unit": "boards/s a core", "bound": 100_000},
    ]

"""Speed of the rules on one core: whole-turn generation, half-turn masks, deduplication by key.

Run it alone (``python benchmarks/bench_movegen.py``) or as a part of ``make bench``. Each figure is the best of many
short passes over positions of random games, so that a busy machine disturbs it little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raccoon.contracts import Boards
from raccoon.env.board import START, terminal_points
from raccoon.env.codec import unique_boards
from raccoon.env.half_moves import legal_mask
from raccoon.env.movegen import ROLLS, afterstates, afterstates_all_rolls
from raccoon.rng import generator

__all__ = ["main", "positions", "rows"]


def positions(n: int, seed: int = 1) -> Boards:
    """``n`` boards of random games, pre-roll, side on roll in slot 1."""
    rng = generator(seed, "benchmark positions")
    games = np.repeat(START[None], 256, axis=0)
    kept: list[Boards] = []
    while sum(map(len, kept)) < n:
        kept.append(games)
        children, offsets = afterstates(games, ROLLS[rng.integers(21, size=len(games))])
        games = children[offsets[:-1] + rng.integers(np.diff(offsets))]
        games[terminal_points(games) != 0] = START
    return rng.permutation(np.concatenate(kept))[:n]


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
    boards = positions(4096)[:256]
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


def main() -> None:
    """Print the table."""
    for row in rows():
        print(f"{row['path']:30} {row['measured']:14,.0f} {row['unit']:18} must reach {row['bound']:,}")


if __name__ == "__main__":
    main()

"""GNUBG: evaluations for labels and the 21-roll sweep behind luck, beside the bare calls of its bindings.

GNUBG remembers what it has evaluated, so every measurement gets boards of its own, and the two sides of a comparison take
turns on slices of them. Medians of processor time, so that other work on the machine matters little.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raccoon.contracts import Boards
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.movegen import ROLLS
from raccoon.testing import sample_boards

_SLICE = 1024


def rows(boards: int = 40_000, sweeps: int = 400) -> list[dict[str, Any]]:
    """Rates per second on one core: ``path``, ``measured``, ``unit``, ``bound`` (90% of the bare calls in this run)."""
    pool = np.unique(sample_boards(boards + sweeps, seed=77), axis=0)
    pool = pool[np.random.default_rng(1).permutation(len(pool))]
    engine = GnubgEngine(0)
    engine.probs6(pool[:2])
    engine.roll_values(pool[:2])
    bare, ours = _rates(_bare_values, engine.probs6, pool[sweeps:], _SLICE)
    bare_sweeps, our_sweeps = _rates(_bare_sweeps, engine.roll_values, pool[:sweeps], 10)
    return [
        {"path": "GNUBG 0-ply labels", "measured": ours, "unit": "boards/s", "bound": 0.9 * bare},
        {"path": "GNUBG 21-roll sweep", "measured": our_sweeps, "unit": "sweeps/s", "bound": 0.9 * bare_sweeps},
    ]


def _rates(bare: Callable[[Any], Any], ours: Callable[[Boards], Any], boards: Boards, size: int) -> tuple[float, float]:
    seconds: tuple[list[float], list[float]] = ([], [])
    for at, start in enumerate(range(0, len(boards) - size + 1, size)):
        part = boards[start : start + size]
        which = at % 2
        given = part if which else part.tolist()
        begin = time.process_time()
        (ours if which else bare)(given)
        seconds[which].append(time.process_time() - begin)
    return size / float(np.median(seconds[0])), size / float(np.median(seconds[1]))


def _bare_values(boards: list[Any]) -> None:
    probabilities = _nn().probabilities
    for board in boards:
        probabilities(board, 0)


def _bare_sweeps(boards: list[Any]) -> None:
    choose, decode, probabilities = _nn().best_move, _nn().board_from_position_key, _nn().probabilities
    rolls = ROLLS.tolist()
    for board in boards:
        for first, second in rolls:
            moves, key = choose(board, first, second, 0, b=1)
            probabilities(decode(key) if moves else board[::-1], 0)


def _nn() -> Any:
    return importlib.import_module("gnubg_nn")

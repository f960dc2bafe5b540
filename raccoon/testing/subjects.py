"""What the checks share: building the subject, sample positions, and the wording of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from raccoon.config.instantiate import build
from raccoon.contracts import Boards, Turns
from raccoon.env.board import START, terminal_points
from raccoon.env.movegen import afterstates, enumerate_turns
from raccoon.rng import generator

__all__ = ["expect", "sample_boards", "sample_turns", "subject"]


def expect(condition: Any, message: str) -> None:
    """Raise AssertionError with ``message`` unless ``condition``; unlike ``assert`` it also works under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def subject(given: Any, **extra: Any) -> Any:
    """The object to check: ``given`` itself, or what is built from it when it is a config node."""
    return build(given, "node", **extra) if isinstance(given, Mapping) or type(given).__name__ == "DictConfig" else given


def sample_boards(count: int = 200, seed: int = 1) -> Boards:
    """``int8[count, 2, 25]``: unfinished pre-roll boards of random games, all stages: contact, bar, race, bear-off."""
    rng = generator(seed, "testing-boards")
    live = np.repeat(START[None], 32, axis=0)
    found = [live]
    while sum(map(len, found)) < 4 * count or len(found) < 160:
        dice = rng.integers(1, 7, size=(len(live), 2)).astype(np.int8)
        children, offsets = afterstates(live, dice)
        pick = offsets[:-1] + (rng.random(len(live)) * np.diff(offsets)).astype(np.int64)
        live = children[pick].copy()
        live[terminal_points(live) != 0] = START
        found.append(live)
    pool = np.concatenate(found)
    return pool[rng.permutation(len(pool))[:count]]


def sample_turns(count: int = 60, seed: int = 1) -> Turns:
    """Turns of ``sample_boards`` with random dice; doubles, dances and plays that end the game occur."""
    rng = generator(seed, "testing-dice")
    return enumerate_turns(sample_boards(count, seed), rng.integers(1, 7, size=(count, 2)).astype(np.int8))

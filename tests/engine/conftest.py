"""Positions that several engine tests use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from raccoon.contracts import Boards
from raccoon.testing import sample_boards


def _random_bearoffs(count: int, most: int, points: int = 6, seed: int = 1) -> Boards:
    """Both sides with 1 to ``most`` checkers on their first ``points`` points; contact-free up to 12 points."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, 2, 25), np.int8)
    for side in boards.reshape(-1, 25):
        np.add.at(side, rng.integers(0, points, rng.integers(1, most + 1)), 1)
    return boards


@pytest.fixture(scope="session")
def random_bearoffs() -> Callable[..., Boards]:
    """``random_bearoffs(count, most, points=6, seed=1)``: see ``_random_bearoffs``."""
    return _random_bearoffs


@pytest.fixture(scope="session")
def stages() -> Boards:
    """Live boards of random games (contact, bar, race), bear-offs, short bear-offs and boards on which every roll but one dances."""
    closed = np.zeros((1, 2, 25), np.int8)
    closed[0, 0, :5], closed[0, 0, 12] = 2, 5
    closed[0, 1, [24, 5]] = [2, 13]
    return np.concatenate([sample_boards(60, seed=5), _random_bearoffs(20, 15), _random_bearoffs(20, 4), closed])

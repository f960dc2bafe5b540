"""The random engine: a function of seed and position."""

from __future__ import annotations

import numpy as np

from raccoon.engine.random import RandomEngine
from raccoon.testing import check_engine, sample_boards


def test_conforms() -> None:
    check_engine(RandomEngine(3))


def test_values_are_uniform_and_belong_to_the_seed() -> None:
    boards = np.unique(sample_boards(3000, seed=2), axis=0)
    values = RandomEngine(1).value(boards)
    assert np.array_equal(values, RandomEngine(1).value(boards))
    assert abs(np.corrcoef(values, RandomEngine(2).value(boards))[0, 1]) < 0.1
    assert abs(values.mean()) < 0.1
    assert abs(values.std() - 3**-0.5) < 0.05
    assert len(np.unique(values)) > 0.99 * len(boards)

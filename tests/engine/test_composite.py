"""The composite asks the exact engine where it knows the position."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.engine.bearoff import BearoffEngine
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.testing import check_engine


def test_each_row_has_the_value_of_its_engine(stages: np.ndarray) -> None:
    exact, rest = BearoffEngine(3), GnubgEngine(0)
    both = CompositeEngine(exact, rest)
    known = exact.knows(stages)
    assert 3 < known.sum() < len(stages)
    assert np.array_equal(both.value(stages)[known], exact.value(stages[known]))
    assert np.array_equal(both.value(stages)[~known], rest.value(stages[~known]))
    assert np.array_equal(both.probs6(stages)[known], exact.probs6(stages[known]))
    assert np.array_equal(both.probs6(stages)[~known], rest.probs6(stages[~known]))


def test_conforms_with_and_without_probabilities() -> None:
    check_engine(CompositeEngine(BearoffEngine(2), GnubgEngine(0)))
    scalar = CompositeEngine(BearoffEngine(2), RandomEngine(1))
    assert not scalar.has_probs
    check_engine(scalar)


def test_wrong_parts_are_named() -> None:
    with pytest.raises(RaccoonError, match=r"exact=random1: it has no knows"):
        CompositeEngine(RandomEngine(1), GnubgEngine(0))  # pyright: ignore[reportArgumentType]
    with pytest.raises(RaccoonError, match=r"rest='gnubg0': not an engine"):
        CompositeEngine(BearoffEngine(2), "gnubg0")  # pyright: ignore[reportArgumentType]

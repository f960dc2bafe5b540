"""The composite asks the exact engine where it knows the position."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import KnowingEngine, PolicyEngine, RaccoonError
from raccoon.engine.base import policy_engine
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.half_moves import legal_mask
from raccoon.env.movegen import enumerate_turns
from raccoon.search.lookahead_engine import LookaheadEngine
from raccoon.search.priors import priors
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


class Policy(RandomEngine):
    """An engine that plays all legal half turns alike."""

    has_policy = True

    def policy(self, boards: np.ndarray, dice: np.ndarray, mid_doubles: np.ndarray | None = None) -> np.ndarray:
        mask = legal_mask(boards, dice, mid_doubles).astype(np.float32)
        self.evaluations += len(boards)
        return mask / mask.sum(axis=1, keepdims=True)


def test_the_policy_of_a_part_is_passed_on() -> None:
    turns = enumerate_turns(START[None], np.array([[3, 3]], np.int8))
    for engine in (
        CompositeEngine(BearoffEngine(2), Policy(1)),
        LookaheadEngine(Policy(1)),
        LookaheadEngine(CompositeEngine(BearoffEngine(2), Policy(1))),
    ):
        inner = Policy(1)
        np.testing.assert_array_equal(priors(turns, engine), priors(turns, inner))
        assert engine.evaluations == inner.evaluations > 1
    without = CompositeEngine(BearoffEngine(2), RandomEngine(1))
    assert not without.has_policy
    with pytest.raises(RaccoonError, match=r"random1\+bearoff: random1 has no policy head"):
        without.policy(turns.boards, turns.dice)


def test_optional_members_are_protocols() -> None:
    bearoff, policy, plain = BearoffEngine(2), Policy(1), RandomEngine(1)
    composite = CompositeEngine(bearoff, plain)
    assert [isinstance(engine, KnowingEngine) for engine in (bearoff, composite, policy, plain)] == [True, True, False, False]
    # a composite always has the method, and says by has_policy whether it has a policy
    assert isinstance(composite, PolicyEngine)
    assert policy_engine(policy) is policy
    assert [policy_engine(engine) for engine in (composite, plain)] == [None, None]

"""The policy head on whole turns."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.engine.net import NetEngine
from raccoon.env.board import START
from raccoon.env.encoder import Encoder
from raccoon.env.half_moves import apply_actions, legal_actions
from raccoon.env.movegen import ROLLS, enumerate_turns
from raccoon.model.backbones.mlp import MLP
from raccoon.model.heads.scalar import Scalar
from raccoon.model.network import RaccoonNet
from raccoon.search import Expectimax, Filter
from raccoon.search.filters import keep_best
from raccoon.search.priors import priors


def engine(policy: bool = True) -> NetEngine:
    return NetEngine(RaccoonNet(Encoder(), partial(MLP, hidden=[16]), Scalar, policy=policy, seed=4))


ENGINE = engine()
TURNS = enumerate_turns(np.repeat(START[None], 21, axis=0), ROLLS)


def test_a_row_sums_to_one() -> None:
    np.testing.assert_allclose(np.add.reduceat(priors(TURNS, ENGINE), TURNS.offsets[:-1]), 1.0, atol=1e-5)


@pytest.mark.parametrize("roll", [1, 6, 20])
def test_equal_to_walking_the_actions_one_by_one(roll: int) -> None:
    found: dict[bytes, float] = {}

    def walk(board: np.ndarray, mid: bool, weight: float) -> None:
        flag = np.array([mid])
        ids, _ = legal_actions(board[None], ROLLS[roll : roll + 1], flag)
        probabilities = ENGINE.policy(board[None], ROLLS[roll : roll + 1], flag)[0]
        for action in ids:
            after, again = apply_actions(board[None], ROLLS[roll : roll + 1], np.array([action]), flag)
            if again[0]:
                walk(after[0], True, weight * probabilities[action])
            else:
                found[after[0].tobytes()] = found.get(after[0].tobytes(), 0.0) + weight * probabilities[action]

    walk(START, False, 1.0)
    start, stop = TURNS.offsets[roll], TURNS.offsets[roll + 1]
    assert len(found) == stop - start
    expected = [found[child.tobytes()] for child in TURNS.children[start:stop]]
    np.testing.assert_allclose(priors(TURNS, ENGINE)[start:stop], expected, atol=1e-6)


def test_filters_use_them() -> None:
    best, _ = keep_best(priors(TURNS, ENGINE), TURNS.offsets, 3)
    _, policy = Filter("policy", 3).apply(TURNS, ENGINE)
    assert np.flatnonzero(policy).tolist() == best.tolist()
    _, value = Filter("value", 3).apply(TURNS, ENGINE)
    _, union = Filter("union", 3).apply(TURNS, ENGINE)
    assert (union == (policy | value)).all()
    result = Expectimax(1, Filter("policy", 3)).values(TURNS, ENGINE)
    assert (result.full == policy).all()


def test_a_net_without_a_policy_is_refused() -> None:
    with pytest.raises(RaccoonError, match=r"search\.filter\.source: engine net has no policy head"):
        priors(TURNS, engine(policy=False))

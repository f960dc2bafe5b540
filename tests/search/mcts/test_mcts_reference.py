"""The array search against a plain one over OpenSpiel's states that draws the same dice: the same visits everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.openspiel_mcts import Decision, Reference
from raccoon.contracts import Boards
from raccoon.engine.random import RandomEngine
from raccoon.env.game_wrapper import random_playout, view
from raccoon.env.half_moves import N_ACTIONS, legal_mask
from raccoon.env.movegen import ROLLS
from raccoon.search.mcts.search import MCTS
from raccoon.search.mcts.walk import draw


class Opinionated(RandomEngine):
    """Fixed random values, and a policy that depends on the action and on the half of a double."""

    has_policy = True

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_]) -> NDArray[np.float32]:
        weight = legal_mask(boards, dice, mid) * (1.0 + (np.arange(N_ACTIONS) * 7919 + 11 * mid[:, None]) % 13)
        return (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)


ENGINE = Opinionated(5)
OUTCOMES = [tuple(int(die) for die in roll) for roll in ROLLS for _ in range(1 if roll[0] == roll[1] else 2)]


def positions() -> list[object]:
    """Decision states from all over two random games, first and second halves of doubles, and the last ones, where games end."""
    out: list[object] = []
    for seed in (3, 8):
        states = list(random_playout(np.random.default_rng(seed)))[:-1]
        doubles = [state for state in states if len(set(view(state).dice or ())) == 1]
        halves = [state for state in doubles if view(state).mid_doubles]
        out += [*states[::80], *states[-6:], *doubles[1:30:15], *halves[1:20:15]]
    return out


def reference(state: object, key: np.uint64, policy: bool, simulations: int) -> Decision:
    numbers = iter(range(10**9))

    def roll() -> tuple[int, int]:
        low, high = OUTCOMES[int(draw(key, next(numbers))) * 36 >> 32]
        return low, high

    return Reference(ENGINE, roll, policy=policy).search(state, simulations)


@pytest.mark.parametrize("policy", [False, True])
def test_visits_and_values_are_those_of_the_plain_search(policy: bool) -> None:
    states = positions()
    views = [view(state) for state in states]
    boards, dice = np.stack([each.board for each in views]), np.array([each.dice for each in views], np.int8)[:, ::-1]
    mid = np.array([each.mid_doubles for each in views])
    keys = np.arange(len(states)).astype(np.uint64)
    found = MCTS(30, leaves=1, prior="policy" if policy else "uniform").search(boards, dice, ENGINE, mid, keys)
    assert mid.any()
    assert found.again.any()
    for row, state in enumerate(states):
        root = reference(state, keys[row], policy, 30)
        part = slice(found.offsets[row], found.offsets[row + 1])
        assert found.ids[part].tolist() == [edge.ids[0] for edge in root.edges]
        assert found.visits[part].tolist() == [edge.n for edge in root.edges]
        np.testing.assert_allclose(found.priors[part], [edge.prior for edge in root.edges], rtol=1e-6)
        values = [edge.w / edge.n if edge.n else np.nan for edge in root.edges]
        np.testing.assert_allclose(found.values[part], values, atol=1e-6)
        assert found.value[row] == pytest.approx(root.w / root.n, abs=1e-6)

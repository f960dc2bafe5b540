"""Half-turn targets: a policy that answers them gives the whole-turn shares back, and a naive enumeration finds the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import SearchResult, Turns
from raccoon.env.board import START
from raccoon.env.half_moves import apply_actions, legal_mask
from raccoon.env.movegen import afterstates, enumerate_turns
from raccoon.rng import generator
from raccoon.search.policy_targets import HalfTargets, half_targets, soft_shares
from raccoon.search.priors import priors


@pytest.fixture(scope="module")
def turns() -> Turns:
    """48 positions, a dozen turns into games played at random, half of the rolls doubles."""
    rng = generator(5, "policy targets")
    boards = np.repeat(START[None], 48, axis=0)
    for _ in range(12):
        children, offsets = afterstates(boards, rng.integers(1, 7, (48, 2)))
        boards = children[rng.integers(offsets[:-1], offsets[1:])]
    dice = rng.integers(1, 7, (48, 2)).astype(np.int8)
    dice[::2, 1] = dice[::2, 0]
    return enumerate_turns(boards, dice)


@pytest.fixture(scope="module")
def shares(turns: Turns) -> np.ndarray:
    values = generator(6, "policy targets").normal(0, 0.05, len(turns.children))
    return soft_shares(SearchResult(values, np.ones(len(values), bool), 0), turns.offsets, 6, 0.02)


class Oracle:
    """An engine whose policy is the targets, looked up by board, dice and half."""

    name, has_policy, evaluations = "oracle", True, 0

    def __init__(self, turns: Turns, parts: tuple[HalfTargets, HalfTargets]) -> None:
        self.known: dict[Any, np.ndarray] = {}
        for mid, part in enumerate(parts):
            for n, row in enumerate(part.row):
                full = np.zeros(1352)
                entries = slice(part.offsets[n], part.offsets[n + 1])
                full[part.ids[entries]] = part.shares[entries]
                self.known[part.boards[n].tobytes(), turns.dice[row].tobytes(), bool(mid), int(row)] = full

    def policy(self, boards: np.ndarray, dice: np.ndarray, mid: np.ndarray | None) -> np.ndarray:
        keys = [(board.tobytes(), roll.tobytes(), mid is not None) for board, roll in zip(boards, dice, strict=True)]
        return np.stack([next((full for known, full in self.known.items() if known[:3] == key), np.zeros(1352)) for key in keys])


def test_a_policy_that_answers_the_targets_gives_the_shares_of_whole_turns(turns: Turns, shares: np.ndarray) -> None:
    parts = half_targets(turns, shares)
    oracle: Any = Oracle(turns, parts)  # all that is asked is a policy
    np.testing.assert_allclose(priors(turns, oracle), shares, atol=1e-12)
    for part in parts:
        np.testing.assert_allclose(np.add.reduceat(part.shares, part.offsets[:-1]), 1.0)
    assert len(np.unique(parts[1].row)) > 12  # most of the doubles go on


def test_the_first_halves_of_a_double_by_a_naive_count(turns: Turns, shares: np.ndarray) -> None:
    first, _ = half_targets(turns, shares)
    for n in range(0, 16, 2):
        board, dice = turns.boards[n : n + 1], turns.dice[n : n + 1]
        behind: dict[bytes, set[bytes]] = {}
        lowest: dict[bytes, int] = {}
        for action in np.flatnonzero(legal_mask(board, dice)[0]):
            half, again = apply_actions(board, dice, [action])
            ends = {half.tobytes()}
            if again[0]:
                on = np.flatnonzero(legal_mask(half, dice, [True])[0])
                ends = {apply_actions(half, dice, [second], [True])[0].tobytes() for second in on}
            behind[half.tobytes()] = ends
            lowest.setdefault(half.tobytes(), int(action))
        children = range(turns.offsets[n], turns.offsets[n + 1])
        mass = {turns.children[c].tobytes(): shares[c] for c in children}
        ways = {end: sum(end in ends for ends in behind.values()) for end in mass}
        expected = {lowest[half]: sum(mass[end] / ways[end] for end in ends) for half, ends in behind.items()}
        entries = slice(first.offsets[n], first.offsets[n + 1])
        found = dict(zip(first.ids[entries].tolist(), first.shares[entries].tolist(), strict=True))
        assert found.keys() == expected.keys()
        assert found == pytest.approx(expected, abs=1e-12)


def test_soft_shares_are_a_softmax_of_the_best_that_may_be_played() -> None:
    values, full = np.array([0.1, 0.5, 0.12, 0.11, -0.2]), np.array([True, False, True, True, True])
    shares = soft_shares(SearchResult(values, full, 0), np.array([0, 4, 5]), 2, 0.02)
    weights = np.exp([0.12 / 0.02, 0.11 / 0.02])
    np.testing.assert_allclose(shares, [0, 0, weights[0] / weights.sum(), weights[1] / weights.sum(), 1])

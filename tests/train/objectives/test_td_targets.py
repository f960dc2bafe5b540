"""Lambda-returns against hand-worked games and a plain recursion, exact backups against OpenSpiel's own enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from raccoon.contracts import OUTCOME_POINTS
from raccoon.engine.net import NetEngine
from raccoon.engine.outcomes import exact_probs6, flip
from raccoon.engine.random import RandomEngine
from raccoon.env import game_wrapper
from raccoon.env.board import terminal_points
from raccoon.rng import generator
from raccoon.search.expectimax import Tree
from raccoon.train.objectives.td_targets import backups, lambda_returns, lottery, outcomes

WIN, WIN_G, LOSE, LOSE_BG = (np.eye(6)[i] for i in (0, 1, 3, 5))


def value(probs6: np.ndarray) -> np.ndarray:
    return probs6 @ OUTCOME_POINTS / 3.0


def random_values(n: int, seed: int = 1) -> np.ndarray:
    return generator(seed, "values").dirichlet(np.ones(6), n)


def test_flip_exchanges_wins_and_losses_and_negates_values():
    probs6 = random_values(20)
    assert flip(WIN_G).tolist() == [0, 0, 0, 0, 1, 0]
    np.testing.assert_allclose(value(flip(probs6)), -value(probs6), atol=1e-15)
    np.testing.assert_array_equal(flip(flip(probs6)), probs6)


def test_a_short_game_by_hand():
    # On roll: me, you, me, and then you stand before a lost game: a plain win for me.
    v = np.stack([(WIN + LOSE) / 2, 0.25 * WIN + 0.75 * LOSE, 0.75 * WIN + 0.25 * LOSE, LOSE])
    got = lambda_returns(v, np.array([0, 4]), 0.6)
    assert got[3].tolist() == LOSE.tolist()
    np.testing.assert_allclose(got[2], WIN)  # the result, whatever lambda
    np.testing.assert_allclose(got[1], 0.4 * (0.25 * WIN + 0.75 * LOSE) + 0.6 * LOSE)
    p = 0.4 * 0.75 + 0.6 * (0.4 * 0.75 + 0.6)  # my chance after one roll, mixed with yours of losing after two
    np.testing.assert_allclose(got[0], p * WIN + (1 - p) * LOSE)


def test_lambda_one_is_the_result_and_zero_the_next_state():
    v = random_values(5)
    v[4] = LOSE_BG
    results = lambda_returns(v, np.array([0, 5]), 1.0)
    np.testing.assert_allclose(results, np.stack([LOSE_BG, flip(LOSE_BG)] * 2 + [LOSE_BG]), atol=1e-12)
    np.testing.assert_allclose(lambda_returns(v, np.array([0, 5]), 0.0)[:4], flip(v[1:]), atol=1e-12)


def plain(values: np.ndarray, lam: float) -> list[float]:
    """The scalar recursion as it is written down: g_t = -((1 - lambda) V_(t+1) + lambda g_(t+1))."""
    g = [values[-1]]
    for v in values[:0:-1]:
        g.append(-((1 - lam) * v + lam * g[-1]))
    return g[::-1]


def test_many_games_of_different_lengths_equal_one_at_a_time():
    lengths = [2, 9, 3, 30, 2]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    v = random_values(offsets[-1])
    got = lambda_returns(v, offsets, 0.7)
    for start, stop in itertools.pairwise(offsets):
        np.testing.assert_allclose(value(got[start:stop]), plain(value(v[start:stop]), 0.7), atol=1e-12)
        np.testing.assert_allclose(got[start:stop], lambda_returns(v[start:stop], np.array([0, stop - start]), 0.7))


def test_exact_targets_by_hand():
    v = 0.5 * random_values(4) + 0.5 / 6
    b = 0.5 * random_values(4, seed=2) + 0.5 / 6
    offsets = np.array([0, 4])
    np.testing.assert_allclose(lambda_returns(v, offsets, 0.0, b)[:3], b[:3], atol=1e-12)
    got = lambda_returns(v, offsets, 0.1, b)
    last = b[2]  # nothing was missing after the last roll: the final value is exact
    np.testing.assert_allclose(got[2], last, atol=1e-12)
    middle = b[1] + 0.1 * flip(last - v[2])
    np.testing.assert_allclose(got[1], middle, atol=1e-12)
    np.testing.assert_allclose(got[0], b[0] + 0.1 * flip(middle - v[1]), atol=1e-12)


def test_sampled_next_states_as_backups_give_the_sampled_targets():
    v = random_values(12)
    offsets = np.array([0, 5, 12])
    sampled = np.concatenate([flip(v[1:]), v[:1]])
    np.testing.assert_allclose(lambda_returns(v, offsets, 0.8, sampled), lambda_returns(v, offsets, 0.8), atol=1e-12)


def test_exact_targets_stay_distributions():
    v, b = np.stack([WIN, WIN, WIN]), np.stack([LOSE, 0.9 * WIN_G + 0.1 * LOSE, WIN])
    got = lambda_returns(v, np.array([0, 3]), 1.0, b)
    assert (got >= 0).all()
    np.testing.assert_allclose(got.sum(axis=1), 1.0)


def test_lottery_has_the_value_and_mixes_like_it():
    values = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(value(lottery(values)), values, atol=1e-15)
    np.testing.assert_allclose(flip(lottery(values)), lottery(-values), atol=1e-15)


def states(count: int) -> list:
    """Decision states of random OpenSpiel games, spread over the games."""
    found, rng = [], generator(11, "openspiel states")
    while len(found) < count:
        played = [state for state in game_wrapper.random_playout(rng) if not state.is_terminal()]
        found += played[3 :: max(1, len(played) // 10)]
    return found[:count]


def before_roll(state) -> object:
    """The chance node at which the dice of a decision state were thrown; None in the middle of a double and at the opening."""
    history = state.full_history()
    if history[-1].player >= 0 or len(history) < 2:  # the second half of a double, or the opening
        return None
    root = game_wrapper.load_game().new_initial_state()
    for item in history[:-1]:
        root.apply_action(item.action)
    return root


def chances(root) -> list[tuple[int, float]]:
    """OpenSpiel's chance outcomes after the opening, the two actions of an unequal pair taken together."""
    outcomes_of = root.chance_outcomes()
    assert len(outcomes_of) == 36
    return [(action, 2 * chance if action < 30 else chance) for action, chance in outcomes_of if action >= 30 or action % 2 == 0]


def enumerated(root, engine) -> np.ndarray:
    """Mean over OpenSpiel's chance outcomes of its best whole turn by ``engine``, an outcome distribution of the side on roll."""
    total = np.zeros(6)
    for action, chance in chances(root):
        children = game_wrapper.turn_results(root.child(action))
        live = terminal_points(children) == 0
        probs6 = exact_probs6(terminal_points(children)).astype(float)
        if live.any():
            probs6[live] = engine.probs6(children[live])
        worth = -(exact_probs6(terminal_points(children)) @ OUTCOME_POINTS / 3.0)
        if live.any():
            worth[live] = -engine.value(children[live])
        total += chance * probs6[worth.argmax()][[3, 4, 5, 0, 1, 2]]
    return total


@pytest.mark.parametrize("count", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_backups_equal_openspiels_enumeration(make_net, count):
    engine = NetEngine(make_net())
    roots = [root for root in map(before_roll, states(2 * count)) if root is not None][:count]
    assert len(roots) == count
    boards = np.stack([game_wrapper.view(root).board for root in roots])
    want = np.stack([enumerated(root, engine) for root in roots])
    np.testing.assert_allclose(backups(boards, Tree(engine)), want, atol=1e-6)


def test_backups_of_repeated_boards_and_of_engines_without_outcomes(make_net):
    boards = np.stack([game_wrapper.view(state).board for state in states(12)])
    engine = NetEngine(make_net("scalar"))
    twice = backups(np.concatenate([boards, boards[::-1]]), Tree(engine))
    np.testing.assert_array_equal(twice[:12], twice[:11:-1])
    np.testing.assert_allclose(value(twice[:12]), Tree(engine).values(boards, 1), atol=1e-12)
    np.testing.assert_allclose(value(outcomes(boards, engine)), engine.value(boards), atol=1e-7)


def test_a_pruned_backup_is_one_of_the_shortlist(make_net):
    boards = np.stack([game_wrapper.view(state).board for state in states(6)])
    engine = NetEngine(make_net())
    wide = backups(boards, Tree(engine, prune=RandomEngine(1), shortlist=1000))
    np.testing.assert_allclose(wide, backups(boards, Tree(engine)), atol=1e-12)
    narrow = backups(boards, Tree(engine, prune=RandomEngine(1), shortlist=1))
    assert (value(narrow) <= value(wide) + 1e-9).all()


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_the_luck_of_the_dice_is_gone_from_exact_targets(make_net, lam):
    """Where the values are their own backups nothing is left to learn: exact targets are the values, sampled ones are not."""
    v = random_values(8)
    exact = lambda_returns(v, np.array([0, 8]), lam, v)
    np.testing.assert_allclose(exact, v, atol=1e-12)
    assert abs(lambda_returns(v, np.array([0, 8]), lam) - v)[:7].max() > 0.1

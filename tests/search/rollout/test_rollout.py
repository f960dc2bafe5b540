"""Rollouts against closed forms: one half-move is the exact expectation, a perfect engine leaves no spread."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import OUTCOME_POINTS, RaccoonError
from raccoon.engine.base import EngineBase
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.movegen import enumerate_turns
from raccoon.env.position_ids import position_id
from raccoon.executor import ProcessExecutor
from raccoon.search import Expectimax, Filter, StaticSearch, equities
from raccoon.search.rollout.search import Rollout, run_rollouts

GNUBG = GnubgEngine(0)
TABLES = BearoffEngine(4)


def bearoffs(count: int, seed: int = 0) -> np.ndarray:
    """Positions of one to four checkers a side, all at home."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, 2, 25), np.int8)
    for board in boards:
        for side in board:
            np.add.at(side, rng.integers(0, 6, rng.integers(1, 5)), 1)
    return boards


class Noisy(EngineBase):
    """The truth and an error, a function of the board: it plays badly and misjudges luck."""

    has_probs = True

    def __init__(self) -> None:
        super().__init__("noisy")

    def _probs6(self, live):
        win = np.clip(TABLES.probs6(live)[:, 0] + 0.2 * RandomEngine(3).value(live), 0, 1)
        out = np.zeros((len(live), 6))
        out[:, 0], out[:, 3] = win, 1 - win
        return out


@pytest.mark.parametrize("engine", [GNUBG, RandomEngine(2)], ids=["chances", "scalar"])
def test_one_half_move_is_the_exact_expectation(engine) -> None:
    boards = np.concatenate([START[None], bearoffs(3)])
    found = Rollout(36, 1).roll(boards, engine)
    np.testing.assert_allclose(found.equity, equities(boards, 1, engine), atol=1e-6)
    assert (found.se < 1e-6).all()
    if engine.has_probs:
        np.testing.assert_allclose(found.probs6 @ OUTCOME_POINTS, found.equity, atol=1e-9)
        np.testing.assert_allclose(found.probs6.sum(axis=1), 1, atol=1e-5)
    else:
        assert np.isnan(found.probs6).all()


def test_a_perfect_engine_leaves_no_spread() -> None:
    boards = bearoffs(6)
    found = Rollout(36, None).roll(boards, TABLES)
    np.testing.assert_allclose(found.equity, TABLES.points(boards), atol=1e-5)
    assert (found.se < 1e-6).all()
    assert (found.truncated == 0).all()
    plain = Rollout(36, None, luck=False).roll(boards, TABLES)
    assert plain.se.max() > 0.1


@pytest.mark.parametrize("luck", [True, False])
@pytest.mark.parametrize(("engine", "boards"), [(GNUBG, bearoffs(3, seed=5)), (RandomEngine(2), START[None])], ids=["chances", "scalar"])
def test_1296_trials_of_two_half_moves_are_the_exact_expectation(engine, boards, luck) -> None:
    found = Rollout(1296, 2, luck=luck).roll(boards, engine)
    np.testing.assert_allclose(found.equity, equities(boards, 2, engine), atol=1e-6)


@pytest.mark.parametrize("trials", [2, 5])
def test_the_standard_error_is_that_of_a_sample(trials) -> None:
    """Of ``n`` games with a point at stake, ``w`` won: variance ``4 w (n - w) / n (n - 1)``, over ``n`` for the mean."""
    found = Rollout(trials, None, luck=False, stratify=False).roll(bearoffs(12), TABLES)
    wins = trials * (found.equity + 1) / 2
    np.testing.assert_allclose(found.se**2, 4 * wins * (trials - wins) / trials**2 / (trials - 1), atol=1e-12)
    np.testing.assert_allclose(found.probs_se[:, 0], found.se / 2, atol=1e-12)
    assert (found.se > 0).any()


class Perfect:
    """Plays by the tables, whatever engine it is given."""

    name = "perfect"

    def values(self, turns, engine):
        return StaticSearch().values(turns, TABLES)


def test_a_bad_judge_of_luck_still_finds_the_truth() -> None:
    boards = bearoffs(8, seed=5)
    exact = TABLES.points(boards)
    open_ones = np.abs(exact) < 0.99
    assert open_ones.sum() >= 4
    found = Rollout(36 * 20, None, search=Perfect()).roll(boards, Noisy())
    assert (np.abs(found.equity - exact) < 4 * found.se + 1e-6).all()
    assert (np.abs(found.probs6 - TABLES.probs6(boards)) < 4 * found.probs_se + 1e-6).all()
    assert (found.se[open_ones] > 0).all()
    plain = Rollout(36 * 20, None, search=Perfect(), luck=False).roll(boards, Noisy())
    assert found.se[open_ones].mean() < 0.8 * plain.se[open_ones].mean()


def test_gnubg_finds_the_truth_with_little_spread() -> None:
    boards = bearoffs(6, seed=5)
    exact = TABLES.points(boards)
    found, plain = (Rollout(72, None, luck=luck).roll(boards, GNUBG) for luck in (True, False))
    assert (np.abs(found.equity - exact) < 4 * found.se + 5e-3).all()  # its tables are rounded
    assert found.se.mean() < 0.25 * plain.se.mean()


def test_a_bad_judge_of_luck_leaves_the_mean_where_it_was() -> None:
    boards = bearoffs(4, seed=5)
    with_luck, without = (Rollout(36 * 60, None, luck=luck).roll(boards, Noisy()) for luck in (True, False))
    spread = np.hypot(with_luck.se, without.se)
    assert (np.abs(with_luck.equity - without.equity) < 4 * spread + 1e-9).all()
    assert with_luck.se.mean() < 0.8 * without.se.mean()


def test_batches_and_company_change_nothing() -> None:
    boards = bearoffs(5)
    together = Rollout(72, 3).roll(boards, Noisy())
    small = Rollout(72, 3, batch=36).roll(boards, Noisy())
    for key in ("equity", "se", "probs6", "probs_se", "trials", "truncated"):
        np.testing.assert_array_equal(getattr(together, key), getattr(small, key))
    alone = Rollout(72, 3).roll(boards[2:3], Noisy())
    assert alone.equity[0] == together.equity[2]
    other = Rollout(72, 3, seed=2).roll(boards, Noisy())
    assert (other.equity != together.equity).any()


def test_it_stops_at_a_standard_error() -> None:
    boards = bearoffs(4, seed=5)
    whole = Rollout(36 * 20, None).roll(boards, Noisy())
    target = float(np.median(whole.se) * 2)
    found = Rollout(36 * 20, None, stop_se=target).roll(boards, Noisy())
    assert (found.se[found.trials < 36 * 20] < target).all()
    assert (found.trials >= 72).all()
    assert found.trials.min() < 36 * 20


def test_candidates_meet_the_same_dice() -> None:
    boards = np.zeros((2, 2, 25), np.int8)
    boards[:, 0, [1, 3, 4]] = 1
    for board, points in zip(boards, ([2, 2, 4, 5], [2, 3, 3, 5]), strict=True):  # two plays of one turn, nearly as good
        np.add.at(board[1], points, 1)
    rolled = [Rollout(36, None, luck=False, seed=seed).roll(boards, TABLES).equity for seed in range(24)]
    pairs = np.array(rolled)
    assert (pairs[:, 0] != pairs[:, 1]).any()
    common = (pairs[:, 0] - pairs[:, 1]).std()
    assert common < 0.7 * (pairs[:-1, 0] - pairs[1:, 1]).std()
    same = Rollout(36, None, luck=False).roll(np.repeat(boards[:1], 3, axis=0), TABLES).equity
    assert (same == same[0]).all()


def test_any_number_of_trials_without_strata() -> None:
    boards = bearoffs(4, seed=5)
    found = Rollout(50, None, stratify=False).roll(boards, Noisy())
    assert (found.trials == 50).all()
    np.testing.assert_array_equal(found.equity, Rollout(50, None, stratify=False, batch=36).roll(boards, Noisy()).equity)
    plain = Rollout(50, 1, stratify=False, luck=False).roll(boards, TABLES)
    assert (np.abs(plain.equity - TABLES.points(boards)) < 4 * plain.se + 1e-6).all()
    assert plain.se.max() > 0.05
    assert (Rollout(50, None, stratify=False, stop_se=10.0).roll(boards, Noisy()).trials == 50).all()  # never on 36 alone


def test_as_a_search() -> None:
    turns = enumerate_turns(START[None], np.array([[2, 1]]))
    rollout = Rollout(36, 1, filter=Filter("value", 3))
    found = rollout.values(turns, GNUBG)
    same = Expectimax(1, Filter("value", 3)).values(turns, GNUBG)
    assert (found.full == same.full).all()
    np.testing.assert_allclose(found.values, same.values, atol=1e-6)
    assert found.evaluations > 0


def test_plays_of_the_trials_may_be_searched() -> None:
    boards = bearoffs(6, seed=5)
    exact = TABLES.points(boards)
    found = Rollout(36 * 4, None, search=Expectimax(1, Filter("none"))).roll(boards, Noisy())
    static = Rollout(36 * 4, None).roll(boards, Noisy())
    assert np.abs(found.equity - exact).max() < 4 * found.se.max() + 0.2
    assert (found.equity != static.equity).any()


def test_shards_give_the_same(tmp_path) -> None:
    boards = bearoffs(3)
    ids = [position_id(board) for board in boards]
    engine = {"_target_": "raccoon.engine.BearoffEngine", "checkers": 4}
    node = {"_target_": "raccoon.search.Rollout", "trials": 36, "truncate": 3}
    found = run_rollouts(ProcessExecutor(0), ids, engine, node, tmp_path)
    direct = Rollout(36, 3).roll(boards, TABLES)
    np.testing.assert_array_equal(found.equity, direct.equity)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")}
    again = run_rollouts(ProcessExecutor(0), ids, engine, node, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")} == kept
    np.testing.assert_array_equal(again.probs6, direct.probs6)
    with pytest.raises(ValueError, match="nonsense"):
        run_rollouts(ProcessExecutor(0), ["nonsense"], engine, node, tmp_path)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"trials": 35}, "search.trials"),
        ({"trials": 40}, "search.trials"),
        ({"truncate": 0}, "search.truncate"),
        ({"stop_se": 0}, "search.stop_se"),
        ({"luck": "on"}, "search.luck"),
        ({"stratify": 1}, "search.stratify"),
        ({"trials": 1, "stratify": False}, "search.trials"),
        ({"seed": -1}, "search.seed"),
        ({"batch": 1}, "search.batch"),
    ],
)
def test_bad_settings_are_named(settings, key) -> None:
    with pytest.raises(RaccoonError, match=key):
        Rollout(**settings)


def test_finished_boards_are_refused() -> None:
    over = np.zeros((1, 2, 25), np.int8)
    over[0, 1, 5] = 15
    with pytest.raises(RaccoonError):
        Rollout(36).roll(over, GNUBG)

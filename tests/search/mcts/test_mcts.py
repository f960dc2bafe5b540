"""Monte Carlo tree search: each trap that others fell into, exact children, independence of everything but the position."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.contracts import Boards, RaccoonError, Turns
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.half_moves import apply_actions, legal_actions, legal_mask
from raccoon.env.movegen import ROLL_PROBS, ROLLS, enumerate_turns
from raccoon.env.position_ids import from_position_id
from raccoon.play.player import EnginePlayer
from raccoon.rng import hash64
from raccoon.search.expectimax import equities
from raccoon.search.lookahead import enumerate_leaves, leaf_values
from raccoon.search.mcts.expand import expand
from raccoon.search.mcts.forest import Forest, Starts
from raccoon.search.mcts.search import MCTS
from raccoon.search.priors import priors

RANDOM = RandomEngine(3)
EXACT = BearoffEngine(4)
TURNS = enumerate_turns(np.repeat(START[None], 21, axis=0), ROLLS)


def home(mine: list[int], theirs: list[int]) -> Boards:
    """Checkers on points 1, 2, .. of the side on roll and of the other."""
    board = np.zeros((1, 2, 25), np.int8)
    board[0, 1, : len(mine)], board[0, 0, : len(theirs)] = mine, theirs
    return board


def forest(search: MCTS, boards: Boards, dice: Any, engine: Any = RANDOM) -> Forest:
    rolls = None if dice is None else np.asarray(dice, np.int8)
    keys = search.keys(boards, np.zeros((len(boards), 2), np.int8) if rolls is None else rolls, None)
    grown = Forest(Starts(boards, rolls, np.zeros(len(boards), bool), keys), engine, search, search.prior or "value")
    grown.simulate()
    return grown


def test_a_second_half_belongs_to_the_same_side() -> None:
    """1-1 takes off two checkers and then two: every simulation wins, and none of the values is negated in between."""
    found = MCTS(20, leaves=1, prior="uniform").search(home([4], [2]), [[1, 1]], EXACT)
    assert found.again.all()
    assert found.value[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("chance", ["sampled", "stratified", "enumerated"])
@pytest.mark.parametrize("prior", ["value", "uniform"])
def test_sums_change_their_sign_with_the_player_and_nowhere_else(chance: Any, prior: Any) -> None:
    grown = forest(MCTS(60, leaves=4, prior=prior, chance=chance), TURNS.boards, TURNS.dice)
    nodes, chances, decisions, edges = grown.nodes, *(int(n) for n in grown.used)
    assert not nodes.d_in_flight[:decisions].any()
    assert not nodes.e_in_flight[:edges].any()
    below = nodes.e_child[:edges]
    again, over = (np.flatnonzero((below >= 0) & (nodes.e_again[:edges] == flag)) for flag in (True, False))
    assert len(again) > 20
    assert (nodes.d_visits[:21] == 60).all()
    np.testing.assert_allclose(nodes.e_value_sum[again], nodes.d_value_sum[below[again]], atol=1e-9)
    np.testing.assert_allclose(nodes.e_value_sum[over], -nodes.c_value_sum[below[over]], atol=1e-9)
    np.testing.assert_array_equal(nodes.e_visits[over], nodes.c_visits[below[over]])
    per_decision = np.bincount(nodes.e_parent[:edges], nodes.e_value_sum[:edges], decisions)
    np.testing.assert_allclose(per_decision, nodes.d_value_sum[:decisions], atol=1e-9)
    rolled = np.where(nodes.c_children[:chances] >= 0, nodes.d_value_sum[nodes.c_children[:chances]], 0.0)
    visits = np.where(nodes.c_children[:chances] >= 0, nodes.d_visits[nodes.c_children[:chances]], 0)
    value = nodes.c_value[:chances]
    expected = value + rolled.sum(axis=1)
    if chance == "enumerated":
        means = np.where(visits > 0, rolled / np.maximum(visits, 1), value[:, None])
        expected = nodes.c_visits[:chances] * (means @ ROLL_PROBS)
    live = nodes.c_state[:chances] == 2
    np.testing.assert_allclose(nodes.c_value_sum[:chances][live], expected[live], atol=1e-9)


def rolls_below(chance: Any, simulations: int) -> NDArray[np.int64]:
    """Visits of the 21 rolls below one board."""
    grown = forest(MCTS(simulations, prior="uniform", chance=chance), START[None], None)
    down = grown.nodes.c_children[0]
    return np.where(down >= 0, grown.nodes.d_visits[down], 0)


def test_every_visit_rolls_afresh_by_the_odds() -> None:
    visits = rolls_below("sampled", 5001)
    assert visits.sum() == 5000
    assert 1e-4 < chisquare(visits, 5000 * ROLL_PROBS).pvalue < 1 - 1e-4


@pytest.mark.parametrize("chance", ["stratified", "enumerated"])
def test_dealt_rolls_come_out_even(chance: Any) -> None:
    np.testing.assert_array_equal(rolls_below(chance, 36 * 5 + 1), 36 * 5 * ROLL_PROBS)
    some = [rolls_below(chance, 19)]
    some += [grown_once(chance, board) for board in TURNS.children[:3]]
    assert len({tuple(visits) for visits in some}) > 1, "decks are shuffled"


def grown_once(chance: Any, board: Boards) -> NDArray[np.int64]:
    grown = forest(MCTS(19, prior="uniform", chance=chance), board[None], None)
    down = grown.nodes.c_children[0]
    return np.where(down >= 0, grown.nodes.d_visits[down], 0)


def test_a_virtual_loss_sends_the_next_simulation_elsewhere() -> None:
    board, dice = START[None], np.array([[3, 1]], np.int8)
    apart = MCTS(8, leaves=8, prior="value", c_puct=0.01, virtual_loss=3.0).search(board, dice, RANDOM)
    together = MCTS(8, leaves=8, prior="value", c_puct=0.01, virtual_loss=0.0).search(board, dice, RANDOM)
    assert apart.visits.max() == 1
    assert apart.visits.sum() == 8
    assert together.visits.max() == 8


class _Liking(RandomEngine):
    """Likes one action."""

    has_policy = True

    def __init__(self, action: int) -> None:
        super().__init__(3)
        self.action = action

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_]) -> NDArray[np.float32]:
        out = np.full((len(boards), 1352), 1e-4, np.float32)
        out[:, self.action] = 0.9
        return out


def test_the_prior_decides_the_first_simulation() -> None:
    board, dice = START[None], np.array([[3, 1]], np.int8)
    ids = MCTS(1, prior="uniform").search(board, dice, RANDOM).ids
    for place in (1, len(ids) - 1):
        found = MCTS(1).search(board, dice, _Liking(int(ids[place])))
        assert np.flatnonzero(found.visits).tolist() == [place]


class _Preferring(GnubgEngine):
    """Gives nearly all to the action with the highest number, whatever it is."""

    has_policy = True

    def __init__(self) -> None:
        super().__init__(0)

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        legal = legal_mask(boards, dice, np.zeros(len(boards), bool) if mid is None else mid)
        weight = legal * np.where(np.arange(legal.shape[1]) == legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)[:, None], 20.0, 1.0)
        return (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)


def test_the_values_overrule_a_wrong_prior() -> None:
    """With the option's settings simulations find plays that the policy hardly considers; ``c_puct=1.5``, in whose scale values
    hardly count, plays what the policy likes."""
    turns, engine = enumerate_turns(np.repeat(START[None], 4, axis=0), np.array([[3, 1], [4, 2], [6, 1], [5, 3]])), _Preferring()
    best = EnginePlayer(engine).choose(turns)
    option = plain(compose("search", ["search=mcts", "search.prior=policy", "search.simulations=300"]))["search"]
    assert EnginePlayer(engine, build(option, "search")).choose(turns).tolist() == best.tolist()
    before = build(option | {"c_puct": 1.5, "chance": "sampled"}, "search")
    liked = priors(turns, engine)
    rows = [liked[start:stop] for start, stop in pairwise(turns.offsets)]
    assert EnginePlayer(engine, before).choose(turns).tolist() == [int(row.argmax()) for row in rows]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_policys_chances_are_evened_out(temperature: float) -> None:
    turns, engine = enumerate_turns(START[None], [[3, 1]]), _Preferring()
    plain_priors, tempered = (
        MCTS(1, prior="policy", policy_temperature=each).search(turns.boards, turns.dice, engine).priors for each in (1.0, temperature)
    )
    weight = plain_priors ** (1 / temperature)
    np.testing.assert_allclose(tempered, weight / weight.sum())


def test_a_first_half_is_worth_the_best_turn_behind_it() -> None:
    dice, mid = np.array([[2, 2]], np.int8), np.ones(1, bool)
    edges = expand(START[None], dice, ~mid, RANDOM, "value", (0.02, 1.0), lambda boards, _: leaf_values(enumerate_leaves(boards), RANDOM))
    assert edges.again.all()
    for board, first in zip(edges.boards, edges.initial, strict=True):
        ids = legal_actions(board[None], dice, mid)[0]
        boards, rolls = (np.repeat(part, len(ids), axis=0) for part in (board[None], dice))
        assert first == -RANDOM.value(apply_actions(boards, rolls, ids, np.ones(len(ids), bool))[0]).min()
    weight = np.exp(edges.initial / 0.02)
    np.testing.assert_allclose(edges.prior, weight / weight.sum())


@pytest.mark.parametrize("prior", ["value", "uniform"])
@pytest.mark.parametrize("leaves", [1, 8])
def test_the_winning_action_gets_most_visits(prior: Any, leaves: int) -> None:
    board = from_position_id("AQAAFAAAAAAAAA")[None]
    turns = enumerate_turns(board, [[2, 1]])
    search = MCTS(100, leaves=leaves, prior=prior)
    found = search.search(board, [[2, 1]], EXACT)
    best = int(found.visits.argmax())
    assert found.values[best] == pytest.approx(1 / 3)
    assert found.visits[best] > found.visits.sum() / 2
    chosen = EnginePlayer(EXACT, search).choose(turns)[0]
    assert not turns.children[chosen, 0].any(), "all checkers are off"


@pytest.mark.parametrize(("chance", "within"), [("sampled", 0.02), ("stratified", 0.006), ("enumerated", 0.006)])
def test_with_exact_children_the_root_converges_to_the_one_ply_expectation(chance: Any, within: float) -> None:
    boards = np.concatenate([home([1, 0, 1, 1], [0, 2, 1]), home([0, 0, 0, 0, 2, 1], [2, 2]), home([1, 1, 0, 0, 0, 1], [0, 0, 0, 1])])
    search = MCTS(6000, prior="uniform", chance=chance, c_puct=0.2)
    np.testing.assert_allclose(search.pre_roll(boards, EXACT), equities(boards, 1, EXACT) / 3, atol=within)


def test_trees_depend_on_their_position_alone() -> None:
    together = MCTS(40, seed=7).search(TURNS.boards, TURNS.dice, RANDOM)
    for batch, rows in ((4, slice(None)), (256, slice(5, 8))):
        some = MCTS(40, seed=7, batch=batch).search(TURNS.boards[rows], TURNS.dice[rows], RANDOM)
        start, stop = together.offsets[rows.start or 0], together.offsets[rows.stop or 21]
        np.testing.assert_array_equal(some.visits, together.visits[start:stop])
        np.testing.assert_array_equal(some.values, together.values[start:stop])
    other = MCTS(40, seed=8).search(TURNS.boards, TURNS.dice, RANDOM)
    assert (other.visits != together.visits).any()


def test_noise_is_dirichlet_and_at_the_root_only() -> None:
    boards, dice = np.repeat(START[None], 2000, axis=0), np.repeat([[3, 1]], 2000, axis=0)
    keys = np.arange(2000).astype(np.uint64)
    search = MCTS(2, leaves=1, prior="uniform", noise=1.0, noise_alpha=0.5)
    priors = search.search(boards, dice, RANDOM, keys=keys).priors.reshape(2000, -1)
    n = priors.shape[1]
    np.testing.assert_allclose(priors.sum(axis=1), 1.0)
    # of a symmetric Dirichlet distribution: mean 1 / n, variance (n - 1) / (n^2 (n alpha + 1))
    np.testing.assert_allclose(priors.mean(axis=0), 1 / n, atol=0.01)
    assert priors.var() == pytest.approx((n - 1) / (n * n * (0.5 * n + 1)), rel=0.08)
    grown = forest(MCTS(60, prior="uniform", noise=0.25), START[None], [[3, 1]])
    edges = np.arange(int(grown.used[2]))
    inner = edges[grown.nodes.e_parent[edges] > 0]
    assert len(inner) > 50
    np.testing.assert_allclose(grown.nodes.e_prior[inner], 1.0 / grown.nodes.d_edges[grown.nodes.e_parent[inner]])


def test_temperature() -> None:
    found = MCTS(50, prior="uniform").search(TURNS.boards, TURNS.dice, RANDOM)
    totals = np.add.reduceat(found.visits, found.offsets[:-1])
    np.testing.assert_array_equal(totals, 50)
    np.testing.assert_allclose(found.policy(), found.visits / 50)
    half = np.add.reduceat(found.visits.astype(float) ** 2, found.offsets[:-1])
    np.testing.assert_allclose(found.policy(0.5), found.visits**2.0 / np.repeat(half, np.diff(found.offsets)))
    best = found.pick(np.arange(21).astype(np.uint64))
    np.testing.assert_array_equal(found.visits[best], np.maximum.reduceat(found.visits, found.offsets[:-1]))
    one = MCTS(50, prior="uniform").search(TURNS.boards[:1], TURNS.dice[:1], RANDOM)
    picks = [int(one.pick(hash64(1, "test", [i]), 1.0)[0]) for i in range(300)]
    drawn = np.bincount(picks, minlength=len(one.visits))
    seen = one.visits > 0
    assert not drawn[~seen].any()
    assert chisquare(drawn[seen], 300 * one.policy()[seen]).pvalue > 1e-4


def test_as_a_search_it_plays_the_most_visited_child() -> None:
    result = MCTS(60).values(TURNS, RANDOM)
    np.testing.assert_array_equal(np.add.reduceat(result.full.astype(int), TURNS.offsets[:-1]), 1)
    assert np.isfinite(result.values).all()
    assert result.evaluations > 0
    found = MCTS(60).search(TURNS.boards, TURNS.dice, RANDOM)
    row = 1  # 2-1, no double: its edges are its children
    start, stop = TURNS.offsets[row], TURNS.offsets[row + 1]
    edges = slice(found.offsets[row], found.offsets[row + 1])
    assert stop - start == edges.stop - edges.start
    top = found.values[edges][found.visits[edges].argmax()]
    assert result.values[start:stop][result.full[start:stop]][0] == pytest.approx(top)
    chosen = EnginePlayer(RANDOM, MCTS(60)).choose(TURNS)
    assert result.full[TURNS.offsets[:-1] + chosen].all()
    drawn = MCTS(60, temperature=1.0).values(TURNS, RANDOM)
    assert (drawn.full != result.full).any()


def test_rows_without_a_choice_are_not_searched() -> None:
    dance = np.zeros((1, 2, 25), np.int8)
    dance[0, 1, 24], dance[0, 0, :6] = 1, 2
    turns = enumerate_turns(dance, [[6, 6]])
    result = MCTS(60).values(turns, RANDOM)
    assert result.evaluations == 1
    assert result.full.all()
    assert MCTS(60, temperature=1.0).values(turns, RANDOM).full.all()


def test_self_play_chooses_half_by_half() -> None:
    turns: Turns = TURNS
    keys = hash64(1, "test", np.arange(len(turns)))
    played = MCTS(20).play(turns, RANDOM, keys, 1.0)
    doubles = np.flatnonzero(turns.dice[:, 0] == turns.dice[:, 1])
    assert played.second is not None
    assert played.rows.tolist() == doubles.tolist()
    assert len(played.second) == len(doubles)
    assert played.second.mid.all()
    assert not played.first.mid.any()
    assert ((played.chosen >= 0) & (played.chosen < np.diff(turns.offsets))).all()
    again = MCTS(20).play(turns, RANDOM, keys, 1.0)
    np.testing.assert_array_equal(again.chosen, played.chosen)
    other = MCTS(20).play(turns, RANDOM, hash64(2, "test", np.arange(len(turns))), 1.0)
    assert (other.chosen != played.chosen).any()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_both_halves_are_drawn_at_the_temperature(temperature: float) -> None:
    turns = enumerate_turns(np.repeat(START[None], 30, axis=0), np.repeat([[2, 2]], 30, axis=0))
    keys = hash64(1, "test", np.arange(len(turns)))
    played = MCTS(20, prior="uniform").play(turns, RANDOM, keys, temperature)
    assert played.second is not None
    best = played.first.pick(keys)
    halves = apply_actions(turns.boards, turns.dice, played.first.ids[best])[0]
    first = (halves == played.second.boards).all(axis=(1, 2))
    best = played.second.pick(keys)
    ends = apply_actions(played.second.boards, played.second.dice, played.second.ids[best], played.second.mid)[0]
    second = (ends == turns.children[turns.offsets[:-1] + played.chosen]).all(axis=(1, 2))
    for most_visited in (first, second):
        assert most_visited.all() == (temperature == 0.0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("simulations", 0),
        ("leaves", 1.5),
        ("c_puct", 0),
        ("virtual_loss", -1),
        ("chance", "frozen"),
        ("prior", "net"),
        ("prior_temperature", 0),
        ("noise", 1.1),
        ("noise_alpha", 0),
        ("temperature", -1),
        ("seed", -1),
        ("batch", True),
    ],
)
def test_what_cannot_be_is_refused(key: str, value: Any) -> None:
    with pytest.raises(RaccoonError, match=rf"search\.{key}="):
        MCTS(**{key: value})


def test_a_policy_needs_a_head() -> None:
    with pytest.raises(RaccoonError, match=r"search\.prior=policy: engine random3 has no policy head"):
        MCTS(prior="policy").values(TURNS, RANDOM)

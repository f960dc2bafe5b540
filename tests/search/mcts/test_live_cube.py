"""The cube in trees of MCTS: exact at the end of a game, at one with expectimax, and seen from the side that acts at every node."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes, RaccoonError
from raccoon.cube.choice import best_of
from raccoon.cube.exact_bearoff import CubefulBearoff
from raccoon.cube.model import Janowski
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.movegen import enumerate_turns
from raccoon.play.player import EnginePlayer
from raccoon.search.expectimax import Expectimax
from raccoon.search.mcts.forest import Forest, Starts
from raccoon.search.mcts.live_cube import LiveCube
from raccoon.search.mcts.search import MCTS
from raccoon.testing.subjects import sample_turns

EXACT = BearoffEngine(7)
PLAIN = Janowski(bearoff=False)
MONEY = CubeRules()


def home(mine: list[int], theirs: list[int]) -> Boards:
    """Checkers on points 1, 2, .. of the side on roll and of the other."""
    board = np.zeros((1, 2, 25), np.int8)
    board[0, 1, : len(mine)], board[0, 0, : len(theirs)] = mine, theirs
    return board


def held_by(owner: int, count: int, rules: CubeRules = MONEY) -> Cubes:
    value = 1 if owner == CENTRED else 2
    return Cubes(np.full(count, value, np.int32), np.full(count, owner, np.int8), rules)


def at_score(mine: int, theirs: int, owner: int, count: int) -> Cubes:
    away = np.tile(np.array([mine, theirs], np.int16), (count, 1))
    cubes = held_by(owner, count)
    return Cubes(cubes.value, cubes.owner, MONEY, away, np.zeros(count, bool))


def search(simulations: int, **settings: Any) -> MCTS:
    return MCTS(simulations, prior="value", chance="enumerated", c_puct=0.02, **settings)


LAST_ROLLS = np.concatenate([home([4], [4]), home([0, 0, 0, 0, 1], [1, 1]), home([0, 0, 1, 1], [2, 1])])


@pytest.mark.parametrize(
    ("simulations", "boards", "tolerance"),
    [(1000, LAST_ROLLS[:2], 1e-6), pytest.param(6000, LAST_ROLLS, 0.006, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("owner", [CENTRED, OWNED, OPPONENT])
def test_the_plain_model_becomes_exact_where_the_tree_reaches_the_end(
    owner: int, simulations: int, boards: Boards, tolerance: float
) -> None:
    """The closed form at the root is off by up to .17 (no double) and .08 (double and take)."""
    cubes, way = held_by(owner, len(boards)), search(simulations)
    found = np.stack(way.cube_equities(boards, cubes, EXACT, PLAIN))
    exact = np.stack(CubefulBearoff(4).equities(boards, cubes))
    np.testing.assert_allclose(found, exact, atol=tolerance)
    assert np.abs(np.stack(PLAIN.equities(EXACT.probs6(boards), boards, cubes)) - exact).max() > 0.05


@pytest.mark.parametrize("owner", [CENTRED, OWNED, OPPONENT])
def test_values_and_choices_are_those_of_expectimax_where_one_ply_is_all_there_is_to_search(owner: int) -> None:
    """Seven checkers on low points against six: whatever is rolled, the model knows what comes after it."""
    boards = np.concatenate([home([4, 3], [2, 2, 1, 1]), home([3, 4], [1, 1, 1, 1, 1, 1])])
    model, cubes = Janowski(), held_by(owner, 2)
    found, expected = (np.stack(way.cube_equities(boards, cubes, EXACT, model)) for way in (search(300), Expectimax(1)))
    np.testing.assert_allclose(found, expected, atol=0.003)
    turns = enumerate_turns(LAST_ROLLS, np.array([[2, 1], [3, 1], [2, 1]], np.int8), held_by(owner, 3))
    grown, deep = (way.cubeful(turns, EXACT, PLAIN) for way in (search(500), Expectimax(3, opponent="full")))
    for start, stop in pairwise(turns.offsets):
        chosen = start + int(np.argmax(np.where(grown.full, grown.values, -9)[start:stop]))
        assert 3 * (deep.values[start:stop].max() - deep.values[chosen]) < 0.005
        assert 3 * grown.values[chosen] == pytest.approx(3 * deep.values[start:stop].max(), abs=0.02)


@pytest.mark.parametrize("score", [(3, 2), (2, 4), (5, 3)])
def test_at_match_scores_it_is_expectimax_to_the_end(score: tuple[int, int]) -> None:
    boards = np.concatenate([home([4], [2]), home([2, 1], [1, 1])])
    for owner in (CENTRED, OWNED):
        cubes = at_score(*score, owner, 2)
        found, expected = (
            np.stack(way.cube_equities(boards, cubes, EXACT, PLAIN)) for way in (search(1000), Expectimax(3, opponent="full"))
        )
        np.testing.assert_allclose(found, expected, atol=0.01)


def grown(cubes: Cubes, simulations: int, **settings: Any) -> Forest:
    turns = sample_turns(len(cubes))
    way = MCTS(simulations, prior="value", **settings)
    starts = Starts(turns.boards, turns.dice, np.zeros(len(turns), bool), way.keys(turns.boards, turns.dice, None), cubes)
    forest = Forest(starts, GnubgEngine(0), way, "value", PLAIN)
    forest.simulate()
    return forest


def seen(forest: Forest, table: NDArray[np.int32]) -> NDArray[np.int64]:
    assert isinstance(forest.live, LiveCube)
    cubes = forest.live.of(table)
    away = np.zeros((len(table), 2), np.int64) if cubes.away is None else cubes.away
    return np.column_stack([cubes.value, cubes.owner, away]).astype(np.int64)


@pytest.mark.parametrize("chance", ["sampled", "enumerated"])
@pytest.mark.parametrize("score", [None, (5, 7)])
def test_owner_score_and_sign_change_sides_together(chance: Any, score: tuple[int, int] | None) -> None:
    owners = np.array([CENTRED, OWNED, OPPONENT] * 4, np.int8)
    cubes = Cubes(np.where(owners == CENTRED, 1, 2).astype(np.int32), owners, MONEY)
    if score is not None:
        cubes = Cubes(cubes.value, owners, MONEY, np.tile(np.array(score, np.int16), (12, 1)), np.zeros(12, bool))
    forest = grown(cubes, 80, leaves=4, chance=chance)
    nodes, chances, decisions, edges = forest.nodes, *(int(n) for n in forest.used)
    np.testing.assert_array_equal(nodes.d_cube[:12, :2], np.column_stack([cubes.value, owners]))
    below = nodes.e_child[:edges]
    again, over = (np.flatnonzero((below >= 0) & (nodes.e_again[:edges] == flag)) for flag in (True, False))
    np.testing.assert_array_equal(nodes.d_cube[below[again]], nodes.d_cube[nodes.e_parent[again]])
    mover, other = seen(forest, nodes.d_cube[nodes.e_parent[over]]), seen(forest, nodes.c_cube[below[over]])
    np.testing.assert_array_equal(other, mover[:, [0, 1, 3, 2]] * [1, -1, 1, 1])
    rolled = np.flatnonzero(nodes.d_kind[:decisions] == 1)
    np.testing.assert_array_equal(nodes.d_cube[rolled], nodes.c_cube[nodes.d_parent[rolled]])

    turned = np.flatnonzero(nodes.c_above[:chances] >= 0)
    above = nodes.c_above[turned]
    before, after = seen(forest, nodes.c_cube[above]), seen(forest, nodes.c_cube[turned])
    assert len(turned) > 100
    assert (before[:, 1] != OPPONENT).all()
    np.testing.assert_array_equal(after, np.column_stack([2 * before[:, 0], np.full(len(after), OPPONENT), before[:, 2:]]))
    assert (nodes.c_visits[turned] > 1).sum() > 5, "turned nodes are rolled from"

    offered = nodes.c_turned[below[over]] >= 0
    sums = np.where(offered, nodes.c_decided_sum[below[over]], nodes.c_value_sum[below[over]])
    visits = np.where(offered, nodes.c_decided[below[over]], nodes.c_visits[below[over]])
    np.testing.assert_allclose(nodes.e_value_sum[over], -sums, atol=1e-9)
    np.testing.assert_array_equal(nodes.e_visits[over], visits)
    np.testing.assert_array_equal(nodes.c_decided[above], nodes.c_visits[above] + nodes.c_visits[turned] - 1)
    held = nodes.c_value_sum[above] / nodes.c_visits[above]
    taken = (2.0 if score is None else 1.0) * nodes.c_value_sum[turned] / nodes.c_visits[turned]
    best = np.maximum(held, np.minimum(taken, nodes.c_pass[turned]))
    np.testing.assert_allclose(nodes.c_decided_sum[above], nodes.c_decided[above] * best, atol=1e-9)


def test_without_a_double_to_make_a_dead_cube_is_no_cube() -> None:
    turns = sample_turns(6)
    capped = enumerate_turns(turns.boards, turns.dice, held_by(CENTRED, 6, CubeRules(cap=1)))
    way, engine = MCTS(60, prior="value"), GnubgEngine(0)
    with_cube, without = way.cubeful(capped, engine, Janowski(0.0, 0.0, bearoff=False)), way.values(turns, engine)
    np.testing.assert_allclose(with_cube.values, without.values, atol=1e-5)
    np.testing.assert_array_equal(with_cube.full, without.full)


def test_an_owned_cube_is_worth_more_and_beavers_punish() -> None:
    boards = sample_turns(8).boards
    way, engine = search(20), GnubgEngine(0)
    centred, owned, theirs = (way.cube_equities(boards, held_by(owner, 8), engine, PLAIN).nd for owner in (CENTRED, OWNED, OPPONENT))
    assert (owned >= centred - 0.02).all()
    assert (centred >= theirs - 0.02).all()
    plain, beaver = (way.cube_equities(boards, held_by(CENTRED, 8, CubeRules(beavers=on)), engine, PLAIN).dt for on in (False, True))
    assert (plain < 0).any()
    np.testing.assert_array_equal(np.sign(plain), np.sign(beaver))
    assert (beaver[plain < 0] < plain[plain < 0]).all()


def test_a_player_doubles_and_answers_by_its_tree() -> None:
    """A last roll that wins 13 times of 18: a double and a take, which the closed form does not see at the other cube's x."""
    player = EnginePlayer(EXACT, search(300), cube=PLAIN)
    boards = np.concatenate([home([0, 0, 0, 0, 1], [1, 1]), home([1], [4])])
    cubes = held_by(CENTRED, 2)
    equities = player.search.cube_equities(boards, cubes, EXACT, PLAIN)  # pyright: ignore[reportAttributeAccessIssue]
    assert best_of(equities, cubes.may_double()) == pytest.approx([1.0, 1.0], abs=1e-6)
    assert player.double(boards, cubes).all()
    assert not player.take(boards, cubes).any()
    with pytest.raises(RaccoonError, match="six outcome chances"):
        EnginePlayer(_Scalar(), search(10)).double(boards, cubes)


class _Scalar(GnubgEngine):
    has_probs = False

    def __init__(self) -> None:
        super().__init__(0)

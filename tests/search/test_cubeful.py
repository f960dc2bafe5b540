"""Cubeful search: Open Sage's own tree, the exact tables, a naive recursion, and what the model promises."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes, Turns
from raccoon.cube.exact_bearoff import CubefulBearoff
from raccoon.cube.janowski import cl2cf_money, probs6_to_cumulative5
from raccoon.cube.model import OWNERS, Janowski, best_of
from raccoon.cube.state import flip_label
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.engine.sage import SageEngine, sage_module, sage_strategy
from raccoon.env.board import is_race, pips, terminal_points
from raccoon.env.formats.board26 import to_board26
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates, enumerate_turns
from raccoon.play.match import play_games
from raccoon.play.observers import Recorder
from raccoon.play.player import EnginePlayer
from raccoon.search.cubeful import CubefulTree
from raccoon.search.expectimax import Expectimax
from raccoon.search.filters import Filter
from raccoon.search.lookahead import StaticSearch, child_cubeful_values, child_values
from raccoon.search.tree import Tree
from raccoon.testing.subjects import sample_turns


def random_cubes(n: int, seed: int, rules: CubeRules | None = None) -> Cubes:
    rng = np.random.default_rng(seed)
    owner = rng.integers(-1, 2, n).astype(np.int8)
    value = np.where(owner == CENTRED, 1, 2 ** rng.integers(1, 5, n)).astype(np.int32)
    return Cubes(value, owner, rules or CubeRules())


def with_cubes(turns: Turns, cubes: Cubes) -> Turns:
    return Turns(turns.boards, turns.dice, cubes, turns.children, turns.offsets)


def sage_agrees(boards: np.ndarray, depth: int, rules: CubeRules) -> np.ndarray:
    """Sage's n-ply cubeful equity minus ours over Sage's own 1P, by owner."""
    sage = sage_module()
    strategy, _table = sage_strategy(sage, 1)
    tree = CubefulTree(Tree(SageEngine("1P")), Janowski())
    out = []
    for owner, label in zip(OWNERS, ("CENTERED", "PLAYER", "OPPONENT"), strict=True):
        cubes = Cubes(np.full(len(boards), 1 if owner == CENTRED else 2, np.int32), np.full(len(boards), owner, np.int8), rules)
        ours = tree.optimal(boards, cubes, depth)
        settings = {"n_plies": depth + 1, "filter_max_moves": 50, "filter_threshold": 5.0, "jacoby": rules.jacoby, "beaver": False}
        owned_by = getattr(sage.CubeOwner, label)
        out.append([sage.cubeful_equity_nply(board, owned_by, strategy, **settings) for board in to_board26(boards).tolist()] - ours)
    return np.array(out)


def contact(count: int) -> np.ndarray:
    """Positions in which Sage's index is the same as ours: its own for races differs."""
    boards = sample_turns(60).boards
    return boards[~is_race(boards) & (pips(boards).min(axis=1) > 60)][:count]


def test_one_ply_is_open_sages_own() -> None:
    assert np.abs(sage_agrees(contact(6), 1, CubeRules())).max() < 2e-6


@pytest.mark.slow
def test_deeper_and_under_jacoby_open_sage_agrees() -> None:
    boards = contact(27)
    assert np.abs(sage_agrees(boards, 1, CubeRules())).max() < 2e-6
    two = np.abs(sage_agrees(boards, 2, CubeRules()))
    assert (two < 1e-5).mean() > 0.95  # Sage's replies at 2 ply are not always the best static ones
    assert two.max() < 5e-4
    jacoby = sage_agrees(boards, 1, CubeRules(jacoby=True))
    assert np.abs(jacoby[1:]).max() < 2e-6  # the rule is off once the cube is turned
    assert jacoby[0].max() < 2e-6  # with it in force Sage's replies are not always best for the roller
    assert (np.abs(jacoby[0]) < 1e-5).mean() > 0.8


def test_exact_when_the_tree_reaches_the_end() -> None:
    # two checkers a side: over within two rolls each at most when both are on low points
    boards = np.zeros((3, 2, 25), np.int8)
    boards[0, 1, 0], boards[0, 0, 0] = 4, 4  # four aces each: over in two rolls each
    boards[1, 1, [4, 1]], boards[1, 0, 0] = 1, 1
    boards[2, 1, 0], boards[2, 0, 1] = 3, 2
    table = CubefulBearoff(4)
    tree = CubefulTree(Tree(CompositeEngine(BearoffEngine(4), GnubgEngine(0)).exact, "full", 20), Janowski(0.3, 0.3))
    # the engine's own chances are exact at last-roll leaves, where the model is exact at any index
    found = tree.no_double(boards, 3, Cubes.centred(3, CubeRules()))
    np.testing.assert_allclose(found, table.no_double(boards), atol=1e-6)


def naive(board: np.ndarray, owner: int, depth: int, engine, model: Janowski, jacoby: bool) -> float:
    """No-double equity of one board: every roll, every play by itself; a reply is chosen by static value."""
    if depth == 0:
        five = probs6_to_cumulative5(np.asarray(engine.probs6(board[None]), np.float64))
        return float(cl2cf_money(five, owner, model.index(board[None]), jacoby and owner == CENTRED)[0])

    def optimal(child: np.ndarray, holder: int, plies: int) -> float:
        points = int(terminal_points(child[None])[0])
        if points:
            return float(np.sign(points) if jacoby and holder == CENTRED else points)
        now = naive(child, holder, plies, engine, model, jacoby)
        if holder == OPPONENT:
            return now
        return max(now, min(2 * naive(child, OPPONENT, plies, engine, model, jacoby), 1.0))

    total = 0.0
    for dice, p in zip(ROLLS, ROLL_PROBS, strict=True):
        children, _ = afterstates(board[None], dice[None])
        static = [-optimal(child, -owner, 0) for child in children]
        best = children[int(np.argmax(static))]
        total += p * -optimal(best, -owner, depth - 1)
    return total


@pytest.mark.parametrize("jacoby", [False, True])
def test_equal_to_a_naive_recursion(jacoby: bool) -> None:
    boards = sample_turns(30).boards
    ending = np.zeros((1, 2, 25), np.int8)
    ending[0, 1, [0, 1]], ending[0, 0, [0, 5]] = 2, 1
    picked = np.concatenate([boards[[0, 7]], ending])
    engine, model = GnubgEngine(0), Janowski(bearoff=False)
    tree, rules = CubefulTree(Tree(engine), model), CubeRules(jacoby=jacoby)
    one = tree.no_double(picked, 1, Cubes.centred(3, rules))
    two = tree.no_double(ending, 2, Cubes.centred(1, rules))
    for column, owner in enumerate(OWNERS):
        expected = [naive(board, owner, 1, engine, model, jacoby) for board in picked]
        np.testing.assert_allclose(one[:, column], expected, atol=1e-9)
        assert two[0, column] == pytest.approx(naive(ending[0], owner, 2, engine, model, jacoby), abs=1e-9)


def test_results_do_not_depend_on_batch_or_order() -> None:
    turns = sample_turns(12)
    turns = with_cubes(turns, random_cubes(12, 1, CubeRules(jacoby=True)))
    engine, model = GnubgEngine(0), Janowski()
    wide, narrow = (Expectimax(1, Filter("value", 4), batch=batch) for batch in (1 << 16, 100))
    found, again = (search.cubeful(turns, engine, model) for search in (wide, narrow))
    np.testing.assert_array_equal(found.values, again.values)
    equities, one_by_one = (search.cube_equities(turns.boards, turns.cubes, engine, model) for search in (wide, narrow))
    np.testing.assert_array_equal(np.stack(equities), np.stack(one_by_one))
    order = np.arange(12)[::-1]
    backwards = wide.cube_equities(turns.boards[order], turns.cubes.take(order), engine, model)
    np.testing.assert_array_equal(backwards.nd[order], equities.nd)
    for row in (0, 5, 11):
        alone = enumerate_turns(turns.boards[row : row + 1], turns.dice[row : row + 1], turns.cubes.take(slice(row, row + 1)))
        values = wide.cubeful(alone, engine, model).values
        np.testing.assert_allclose(values, found.values[turns.offsets[row] : turns.offsets[row + 1]], atol=1e-9)


def test_search_to_depth_0_and_full_children() -> None:
    turns = with_cubes(sample_turns(20), random_cubes(20, 2))
    engine, model = GnubgEngine(0), Janowski()
    static = Expectimax(0).cubeful(turns, engine, model)
    assert static.full.all()
    deep = Expectimax(1, Filter("value", 3)).cubeful(turns, engine, model)
    for start, stop in pairwise(turns.offsets):
        assert 1 <= deep.full[start:stop].sum() <= 3
        assert (deep.values[start:stop] != static.values[start:stop]).sum() in (0, min(3, stop - start))


def test_a_dead_cube_ranks_like_no_cube() -> None:
    turns = with_cubes(sample_turns(80), random_cubes(80, 3))
    engine = GnubgEngine(0)
    cubeless = child_values(turns, engine).values
    for owner in OWNERS:
        cubes = Cubes(turns.cubes.value, np.full(80, owner, np.int8), turns.cubes.rules)
        points = child_cubeful_values(with_cubes(turns, cubes), engine, x=0.0)
        for start, stop in pairwise(turns.offsets):
            order = np.argsort(-cubeless[start:stop], kind="stable")
            assert (np.diff(points[start:stop][order]) <= 1e-6).all()  # the same order, up to float32 rounding of values
        np.testing.assert_allclose(points, 3 * cubeless, atol=1e-5)
    chosen = EnginePlayer(engine, cube=Janowski(0.0, 0.0)).choose(turns)
    free = EnginePlayer(engine).choose(with_cubes(turns, Cubes.centred(80)))
    assert (chosen == free).mean() > 0.98  # ties at 1e-8 may fall either way


def test_the_other_side_of_random_play_with_random_cubes() -> None:
    recorder, player = Recorder(), EnginePlayer(RandomEngine(4))
    play_games((player, player), np.arange(6), 8, observers=[recorder])
    boards = np.concatenate([record.after for record in recorder.records()])
    cubes, model = random_cubes(len(boards), 5), Janowski(bearoff=False)
    live = terminal_points(boards) == 0
    probs6 = np.asarray(GnubgEngine(0).probs6(boards[live]), np.float64)
    probs6 /= probs6.sum(axis=1, keepdims=True)  # float32 leaves 1e-7
    mine, theirs = cubes.take(live), cubes.take(live).flipped()
    assert (theirs.owner == flip_label(mine.owner)).all()
    swapped = probs6[:, [3, 4, 5, 0, 1, 2]]
    np.testing.assert_allclose(model.no_double(probs6, boards[live], mine), -model.no_double(swapped, boards[live], theirs), atol=1e-12)
    over = terminal_points(boards[~live]).astype(float)
    assert len(over) == 6
    for rules in (CubeRules(), CubeRules(jacoby=True)):
        ended = cubes.take(~live).under(rules)
        exact = model.finished(over, ended)
        np.testing.assert_array_equal(exact, -model.finished(-over, ended.flipped()))
        np.testing.assert_array_equal(exact, np.where((ended.owner == CENTRED) & rules.jacoby, np.sign(over), over))


def test_beavers_punish_a_wrong_double() -> None:
    boards = sample_turns(1).boards
    probs6 = np.array([[0.45, 0.0, 0.0, 0.55, 0.0, 0.0]])
    plain, beaver = (Janowski().equities(probs6, boards, Cubes.centred(1, CubeRules(beavers=on))) for on in (False, True))
    assert plain.dt[0] < 0
    assert beaver.dt[0] == 2 * plain.dt[0]
    assert best_of(beaver, np.array([True]))[0] == plain.nd[0]
    capped = Janowski().equities(probs6, boards, Cubes.centred(1, CubeRules(beavers=True, cap=2)))
    assert capped.dt[0] == plain.dt[0]


def test_static_search_counts_and_leaves_greedy_doubles_the_plays_behind_the_best_half() -> None:
    turns = with_cubes(sample_turns(40), random_cubes(40, 6))
    engine = GnubgEngine(0)
    joint = StaticSearch().cubeful(turns, engine, Janowski())
    assert joint.evaluations == engine.evaluations
    greedy, cubeless = StaticSearch("greedy").cubeful(turns, engine, Janowski()), StaticSearch("greedy").values(turns, engine)
    assert joint.evaluations + greedy.evaluations + cubeless.evaluations == engine.evaluations
    assert joint.full.all()
    assert not greedy.full.all()
    assert np.array_equal(greedy.full, cubeless.full)
    assert np.array_equal(greedy.values, joint.values)


def test_owned_cube_is_not_worse() -> None:
    tree = CubefulTree(Tree(GnubgEngine(0)), Janowski())
    by_owner = tree.no_double(sample_turns(12).boards, 1, Cubes.centred(12, CubeRules()))
    centred, owned, theirs = by_owner.T
    assert (owned >= centred - 1e-9).all()
    assert (centred >= theirs - 1e-9).all()
    assert OWNERS == (CENTRED, OWNED, OPPONENT)

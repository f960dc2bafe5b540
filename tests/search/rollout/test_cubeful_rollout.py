"""Rollouts with a cube against exact bear-offs: a perfect engine leaves no spread, a poor one no bias."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes, RaccoonError
from raccoon.cube.exact_bearoff import last_rolls
from raccoon.cube.model import Janowski
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START
from raccoon.search.rollout.cubeful import Lines, roll_cubeful
from raccoon.search.tree import Tree

RULES = CubeRules()
OWNERS = (CENTRED, OWNED, OPPONENT)


def bearoff(mine: dict[int, int], theirs: dict[int, int]) -> np.ndarray:
    board = np.zeros((2, 25), np.int8)
    for side, points in ((1, mine), (0, theirs)):
        for point, count in points.items():
            board[side, point - 1] = count
    return board


BOARDS = np.stack([bearoff({6: 1, 5: 1}, {4: 2}), bearoff({5: 2, 2: 1}, {6: 1, 3: 1}), bearoff({1: 4}, {1: 5})])


def lines(acts: bool, value: int = 1) -> Lines:
    n = len(BOARDS)
    cubes = Cubes(np.full(3 * n, value, np.int32), np.repeat(np.array(OWNERS, np.int8), n), RULES)
    return Lines(np.tile(np.arange(n), 3), cubes, np.full(3 * n, acts))


def exact(acts: bool) -> np.ndarray:
    found = last_rolls(BOARDS)
    assert found is not None
    assert len(found[1]) == len(BOARDS)
    asked = lines(acts)
    boards = BOARDS[asked.position]
    model = Janowski()
    chances = BearoffEngine().probs6(boards)
    return model.optimal(chances, boards, asked.cubes) if acts else model.no_double(chances, boards, asked.cubes)


@pytest.mark.parametrize("acts", [False, True])
def test_a_perfect_engine_and_model_leave_no_spread(acts: bool) -> None:
    result = roll_cubeful(BOARDS, lines(acts), Tree(BearoffEngine()), Janowski(), 4, 1)
    assert result.equity.shape == (9, 4)
    np.testing.assert_allclose(result.equity, np.repeat(exact(acts)[:, None], 4, axis=1), atol=1e-5)
    np.testing.assert_allclose(result.cubeless.std(axis=1), 0, atol=1e-5)
    assert (np.abs(exact(acts)) < 1).any()


def test_a_cube_that_is_turned_counts_by_its_value() -> None:
    once, twice = (roll_cubeful(BOARDS, lines(False, value), Tree(BearoffEngine()), Janowski(), 2, 1).equity for value in (1, 8))
    np.testing.assert_allclose(twice, 8 * once, atol=1e-4)


def test_a_poor_model_of_luck_leaves_no_bias() -> None:
    """Dead cubes without exact last rolls misjudge what a cube is worth, which moves what is done but not the mean of what follows it:
    where nobody can turn the cube (the cap is reached), the exact cubeless value comes out."""
    capped = CubeRules(cap=1)
    asked = Lines(np.arange(len(BOARDS)), Cubes(np.ones(len(BOARDS), np.int32), np.zeros(len(BOARDS), np.int8), capped), np.ones(3, bool))
    result = roll_cubeful(BOARDS, asked, Tree(GnubgEngine(0)), Janowski(0.3, 0.3, bearoff=False), 144, 3)
    error = result.equity.std(axis=1, ddof=1) / 12
    assert (error[:2] > 1e-4).all()
    assert (np.abs(result.equity.mean(axis=1) - BearoffEngine().points(BOARDS)) < 4 * error + 1e-3).all()


def test_lines_meet_the_same_dice_whatever_stands_beside_them() -> None:
    tree, model = Tree(GnubgEngine(0)), Janowski()
    both = roll_cubeful(BOARDS, lines(True), tree, model, 3, 5)
    alone = roll_cubeful(BOARDS[1:2], Lines(np.zeros(1, np.int64), lines(True).cubes.take([1]), np.ones(1, bool)), tree, model, 3, 5)
    np.testing.assert_array_equal(both.equity[1], alone.equity[0])
    np.testing.assert_array_equal(both.probs6[1], alone.probs6[0])


def test_the_side_on_roll_cashes_where_it_may_turn_the_cube() -> None:
    """Four checkers on the ace point against three: it loses where it rolls no double and the other side does."""
    board = np.stack([bearoff({1: 4}, {1: 3})])
    asked = Lines(np.zeros(2, np.int64), Cubes(np.ones(2, np.int32), np.zeros(2, np.int8), RULES), np.array([True, False]))
    cash, waits = roll_cubeful(board, asked, Tree(BearoffEngine()), Janowski(), 2, 1).equity
    np.testing.assert_array_equal(cash, 1.0)
    np.testing.assert_allclose(waits, 1 - 2 * 5 / 36, atol=1e-6)  # the cube comes too late: the game is over after its next roll


def test_jacoby_counts_gammons_once_while_the_cube_is_centred() -> None:
    """One checker to bear off against fifteen at home that have not begun: a sure gammon, worth 1 by the rule, 2 without."""
    board = np.stack([bearoff({1: 1}, {6: 15})])
    for jacoby, owner, worth in ((True, CENTRED, 1.0), (False, CENTRED, 2.0), (True, OPPONENT, 2.0)):
        cubes = Cubes(np.ones(1, np.int32), np.array([owner], np.int8), CubeRules(jacoby=jacoby))
        asked = Lines(np.zeros(1, np.int64), cubes, np.zeros(1, bool))
        result = roll_cubeful(board, asked, Tree(GnubgEngine(0)), Janowski(), 2, 1)
        np.testing.assert_allclose(result.equity, worth)
        np.testing.assert_allclose(result.cubeless, 2.0)


def test_finished_boards_are_refused() -> None:
    over = START[None].copy()
    over[0, 0] = 0
    with pytest.raises(RaccoonError):
        roll_cubeful(over, Lines(np.zeros(1, np.int64), Cubes.centred(1, RULES), np.ones(1, bool)), Tree(GnubgEngine(0)), Janowski(), 2, 1)

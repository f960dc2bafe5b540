from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Cubes, RaccoonError
from raccoon.env.board import START, swap, validate
from raccoon.env.game_wrapper import turn_results, view
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates, afterstates_all_rolls, enumerate_turns
from raccoon.env.position_ids import from_position_id, position_id, position_key

gnubg_nn: Any = importlib.import_module("gnubg_nn")  # its members are made at run time


def test_rules_cases(rule_cases: list[dict[str, Any]]) -> None:
    boards = np.stack([from_position_id(case["id"]) for case in rule_cases])
    children, offsets = afterstates(boards, [case["dice"] for case in rule_cases])
    validate(children[children.any(axis=(1, 2))])  # but for the last checker of a board of one
    for row, case in enumerate(rule_cases):
        ids = [position_id(child) for child in children[offsets[row] : offsets[row + 1]]]
        assert sorted(ids) == case["children"], case["name"]


def test_children_are_in_key_order_and_dice_order_does_not_matter(rule_cases: list[dict[str, Any]]) -> None:
    boards = np.stack([from_position_id(case["id"]) for case in rule_cases])
    dice = np.array([case["dice"] for case in rule_cases])
    children, offsets = afterstates(boards, dice)
    for row in range(len(boards)):
        keys = [position_key(child) for child in children[offsets[row] : offsets[row + 1]]]
        assert keys == sorted(set(keys))
    again, same = afterstates(boards.astype(np.int64), dice[:, ::-1])
    assert np.array_equal(again, children)
    assert np.array_equal(same, offsets)


def test_rolls() -> None:
    assert ROLLS.tolist() == sorted([a, b] for a in range(1, 7) for b in range(a, 7))
    assert ROLL_PROBS.sum() == pytest.approx(1, abs=1e-15)
    assert sorted(set(ROLL_PROBS * 36)) == [1, 2]


def test_all_rolls_are_row_by_row(rule_cases: list[dict[str, Any]]) -> None:
    boards = np.stack([from_position_id(case["id"]) for case in rule_cases[:20]])
    children, offsets = afterstates_all_rolls(boards)
    one, rows = afterstates(np.repeat(boards, 21, axis=0), np.tile(ROLLS, (20, 1)))
    assert np.array_equal(children, one)
    assert np.array_equal(offsets, rows)


def test_empty_batches() -> None:
    children, offsets = afterstates(np.zeros((0, 2, 25), np.int8), np.zeros((0, 2), np.int8))
    assert children.shape == (0, 2, 25)
    assert offsets.tolist() == [0]
    assert len(afterstates_all_rolls(np.zeros((0, 2, 25), np.int8))[0]) == 0


def gnubg_children(board: np.ndarray, dice: tuple[int, int]) -> np.ndarray:
    """Every result of gnubg's move generator, as afterstates in key order."""
    # its keys still have the mover in slot 1
    keys = gnubg_nn.moves(board.tolist(), *dice)
    children = swap(np.array([gnubg_nn.board_from_position_key(key) for key in keys], np.int8).reshape(-1, 2, 25))
    return np.stack(sorted(children, key=position_key)) if len(children) else swap(board[None])


@pytest.mark.parametrize("lone", [[*range(10, 25)], [*range(9, 24)], [2, 4, 6, 8, 10, 12, 13, 14, 16, 17, 18, 19, 20, 22, 24]])
def test_crowded_doubles_agree_with_gnubg(lone: list[int]) -> None:
    board = np.zeros((2, 25), np.int8)
    board[1, lone[:-1]] = 1
    board[0, 24] = 15
    for die in range(1, 7):
        children, _ = afterstates(board[None], [[die, die]])
        assert np.array_equal(children, gnubg_children(board, (die, die)))
    assert len(afterstates(board[None], [[1, 1]])[0]) > 500


def test_every_roll_from_the_start_agrees_with_gnubg() -> None:
    children, offsets = afterstates_all_rolls(START[None])
    for row, (low, high) in enumerate(ROLLS.tolist()):
        assert np.array_equal(children[offsets[row] : offsets[row + 1]], gnubg_children(START, (low, high)))


def compare(states: list[Any]) -> None:
    """Rows of one batch against OpenSpiel and gnubg, move for move."""
    views = [view(state) for state in states]
    children, offsets = afterstates(np.stack([here.board for here in views]), np.array([here.dice for here in views]))
    validate(children)
    for row, (state, here) in enumerate(zip(states, views, strict=True)):
        mine = children[offsets[row] : offsets[row + 1]]
        assert np.array_equal(mine, turn_results(state)), str(state)
        assert here.dice is not None
        assert np.array_equal(mine, gnubg_children(here.board, here.dice)), str(state)


def test_turns_are_those_of_openspiel_and_gnubg(turn_states: Callable[[int, int], list[Any]]) -> None:
    compare(turn_states(1500, 11))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_turns_are_those_of_openspiel_and_gnubg(turn_states: Callable[[int, int], list[Any]], part: int) -> None:
    compare(turn_states(2000, 100 + part))


def test_bad_input_names_the_row() -> None:
    boards = np.stack([START, START])
    overlapping = boards.copy()
    overlapping[1, 0, [0, 5]] = [1, 4]
    done = boards.copy()
    done[1, 1] = 0
    with pytest.raises(RaccoonError, match="row 1 has both sides on one point"):
        afterstates(overlapping, [[1, 2], [1, 2]])
    with pytest.raises(RaccoonError, match="row 1 is a finished game"):
        afterstates(done, [[1, 2], [1, 2]])
    with pytest.raises(RaccoonError, match="row 1 is a finished game"):
        afterstates_all_rolls(done)
    for bad in (0, 7, -1):
        with pytest.raises(RaccoonError, match=rf"dice: row 1 is \[1, {bad}\]; each die is 1..6"):
            afterstates(boards, [[1, 2], [1, bad]])
    with pytest.raises(RaccoonError, match=r"shape \(1, 2\) instead of \(2, 2\)"):
        afterstates(boards, [[1, 2]])
    with pytest.raises(RaccoonError, match="float64 instead of integers"):
        afterstates(boards, np.array([[1.0, 2.0], [1.0, 2.0]]))


def test_turns_of_games_in_progress() -> None:
    turns = enumerate_turns(np.stack([START, START]), [[3, 1], [6, 6]])
    assert len(turns) == 2
    assert turns.dice.dtype == np.int8
    assert turns.cubes.value.tolist() == [1, 1]
    assert turns.cubes.owner.tolist() == [CENTRED, CENTRED]
    assert turns.offsets.tolist() == [0, 16, len(turns.children)]
    cubes = Cubes(np.array([2, 4], np.int32), np.array([OWNED, OPPONENT], np.int8))
    assert enumerate_turns(turns.boards, turns.dice, cubes).cubes is cubes


def test_turns_of_finished_games_are_refused() -> None:
    for slot in (0, 1):
        boards = np.stack([START, START])
        boards[1, slot] = 0
        with pytest.raises(RaccoonError, match="row 1 is a finished game"):
            enumerate_turns(boards, [[3, 1], [6, 6]])
    with pytest.raises(RaccoonError, match="1 values and 1 owners for 2 boards"):
        enumerate_turns(np.stack([START, START]), [[3, 1], [6, 6]], Cubes.centred(1))


class Exact:
    """Money play without gammon rules in the way: exact equities of short bear-offs by recursion over the rolls."""

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, int], float] = {}

    def rolled(self, board: np.ndarray, owner: int) -> float:
        """Points at cube 1 to the side on roll that does not double now."""
        key = (board.tobytes(), owner)
        if key not in self.known:
            children, offsets = afterstates_all_rolls(board[None])
            values = [self.after(child, -owner) for child in children]
            best = [max(values[offsets[roll] : offsets[roll + 1]]) for roll in range(21)]
            self.known[key] = float(ROLL_PROBS @ np.array(best))
        return self.known[key]

    def after(self, child: np.ndarray, owner: int) -> float:
        """Points to the mover of an afterstate; ``owner`` from the opponent, who is on roll and may double."""
        if child[0].sum() == 0:
            return 1.0
        stay = self.rolled(child, owner)
        return -(stay if owner == OPPONENT else max(stay, min(2 * self.rolled(child, OPPONENT), 1.0)))

    def win(self, board: np.ndarray) -> float:
        """Probability that the side on roll wins."""
        key = (board.tobytes(), 9)
        if key not in self.known:
            children, offsets = afterstates_all_rolls(board[None])
            values = [1.0 if child[0].sum() == 0 else 1 - self.win(child) for child in children]
            best = [max(values[offsets[roll] : offsets[roll + 1]]) for roll in range(21)]
            self.known[key] = float(ROLL_PROBS @ np.array(best))
        return self.known[key]


def test_bear_offs_have_their_exact_money_values(cube_cases: list[dict[str, Any]]) -> None:
    exact = Exact()
    for case in cube_cases:
        board = from_position_id(case["id"])
        assert exact.win(board) == pytest.approx(case["p"], abs=1e-5), case["name"]
        assert exact.rolled(board, CENTRED) == pytest.approx(case["nd_centred"], abs=6e-5), case["name"]
        assert exact.rolled(board, OWNED) == pytest.approx(case["nd_owned"], abs=6e-5), case["name"]
        assert 2 * exact.rolled(board, OPPONENT) == pytest.approx(case["dt"], abs=6e-5), case["name"]

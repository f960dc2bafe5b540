from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.board import START, swap, terminal_points
from raccoon.env.game_wrapper import random_playout, view
from raccoon.env.half_moves import N_ACTIONS, PASS, apply_actions, for_player, legal_actions, legal_mask
from raccoon.env.movegen import afterstates


def test_actions_masks_and_results_are_openspiels() -> None:
    rng = np.random.default_rng(3)
    states = [state for _ in range(3) for state in random_playout(rng) if not state.is_terminal()]
    views = [view(state) for state in states]
    boards, dice = np.stack([here.board for here in views]), np.array([here.dice for here in views])
    mid = np.array([here.mid_doubles for here in views])
    mask = legal_mask(boards, dice, mid)
    ids, offsets = legal_actions(boards, dice, mid)
    rows = np.repeat(np.arange(len(views)), np.diff(offsets))
    after, again = apply_actions(boards[rows], dice[rows], ids, mid[rows])
    assert mid.any()
    assert again.any()
    for row, (state, here) in enumerate(zip(states, views, strict=True)):
        part = slice(offsets[row], offsets[row + 1])
        theirs = for_player(ids[part], here.player)
        assert sorted(theirs) == state.legal_actions()
        assert np.flatnonzero(mask[row]).tolist() == ids[part].tolist()
        for action, board, more in zip(theirs.tolist(), after[part], again[part], strict=True):
            child = view(state.child(action))
            assert np.array_equal(board, child.board)
            assert more == child.mid_doubles


def test_opening_ids_repeat_results(rule_cases: list[dict[str, Any]]) -> None:
    ids, _ = legal_actions(START[None], [[2, 1]])
    boards, _ = apply_actions(np.repeat(START[None], len(ids), 0), [[2, 1]] * len(ids), ids)
    assert len(ids) == 30
    assert len({board.tobytes() for board in boards}) == 15


def test_a_dance_is_one_pass() -> None:
    board = START.copy()
    board[1, [5, 24]] = [4, 1]
    board[0] = 0
    board[0, :6] = 2
    board[1, [7, 12, 23]] = [3, 5, 2]
    board[1, [23]] = 0
    mask = legal_mask(board[None], [[3, 3]])
    assert np.flatnonzero(mask[0]).tolist() == [PASS]
    after, again = apply_actions(board[None], [[3, 3]], [PASS])
    assert np.array_equal(after[0], swap(board))
    assert not again[0]


def test_a_double_that_ends_in_its_first_half_is_over() -> None:
    board = np.zeros((1, 2, 25), np.int8)
    board[0, 1, 0] = 2
    board[0, 0, 3] = 5
    ids, _ = legal_actions(board, [[2, 2]])
    assert len(ids) == 1
    after, again = apply_actions(board, [[2, 2]], ids)
    assert not again[0]
    assert terminal_points(after)[0] == -1
    assert np.array_equal(after, afterstates(board, [[2, 2]])[0])


def test_ids_of_both_players() -> None:
    ids = np.arange(N_ACTIONS)
    assert np.array_equal(for_player(ids, 1), ids)
    mirrored = for_player(ids, 0)
    assert np.array_equal(np.sort(mirrored), ids)
    assert np.array_equal(for_player(mirrored, 0), ids)
    assert for_player([PASS], 0).tolist() == [PASS]
    assert for_player([0, 0], [0, 1]).tolist() == [23 + 26 * 23, 0]


def test_bad_input_names_the_row() -> None:
    two = np.stack([START, START])
    with pytest.raises(RaccoonError, match="mid_doubles: row 1 is set"):
        legal_mask(two, [[1, 1], [1, 2]], [True, True])
    with pytest.raises(RaccoonError, match=r"mid_doubles: shape \(1,\)"):
        legal_mask(two, [[1, 1], [1, 2]], [True])
    with pytest.raises(RaccoonError, match="row 1: action 1351 is not legal"):
        apply_actions(two, [[1, 2], [1, 2]], [legal_actions(START[None], [[1, 2]])[0][0], PASS])
    with pytest.raises(RaccoonError, match="action 1352 is not legal"):
        apply_actions(two, [[1, 2], [1, 2]], [1352, -1])
    with pytest.raises(RaccoonError, match="ids: "):
        apply_actions(two, [[1, 2], [1, 2]], [0.5, 1])
    done = two.copy()
    done[1, 0] = 0
    with pytest.raises(RaccoonError, match="row 1 is a finished game"):
        legal_mask(done, [[1, 2], [1, 2]])

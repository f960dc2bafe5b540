from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.board import START, as_boards, is_race, pips, swap, terminal_points, validate
from raccoon.env.game_wrapper import random_playout, view
from raccoon.env.position_ids import from_position_id


def board(mine: dict[int, int], theirs: dict[int, int]) -> np.ndarray:
    """One board from {point: checkers} of the side on roll and of the other (25 = bar)."""
    out = np.zeros((1, 2, 25), np.int8)
    for slot, side in ((1, mine), (0, theirs)):
        for point, n in side.items():
            out[0, slot, point - 1] = n
    return out


def test_start_is_the_opening_position() -> None:
    validate(START[None])
    assert START.dtype == np.int8
    assert pips(START[None]).tolist() == [[167, 167]]
    assert not is_race(START[None])[0]
    assert terminal_points(START[None])[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        START[0, 0] = 1


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (board({1: 16}, {1: 2}), "row 0 has more than 15"),
        (board({1: 10, 25: 6}, {1: 2}), "row 0 has more than 15"),
        (board({1: -1}, {1: 2}), "row 0 has a negative"),
        (board({1: 2}, {24: 1}), "row 0 has both sides on one point"),
        (np.concatenate([START[None], board({5: 2}, {20: 2})]), "row 1 has both sides"),
        (np.concatenate([START[None], board({}, {})]), "row 1 has no checkers on either side"),
        (START, r"shape \(2, 25\) instead of \(N, 2, 25\)"),
        (START[None, :, :24], r"shape \(1, 2, 24\)"),
        (START[None].astype(float), "float64 instead of integers"),
        (START[None].astype(int) + 300, "outside 0..15"),
    ],
)
def test_bad_boards_are_refused_with_the_reason(bad: np.ndarray, fault: str) -> None:
    with pytest.raises(RaccoonError, match=fault):
        validate(bad)


def test_validate_names_its_input_and_takes_other_integers() -> None:
    validate(START[None].astype(np.int64))
    validate(np.zeros((0, 2, 25), np.int8))
    with pytest.raises(RaccoonError, match="shard 7: row 0"):
        validate(board({1: 16}, {}), "shard 7")
    assert as_boards(START[None].astype(np.int32)).dtype == np.int8


def test_swap_exchanges_the_slots() -> None:
    boards = board({25: 1, 3: 2}, {24: 2})
    assert swap(boards)[0, 0].tolist() == boards[0, 1].tolist()
    assert swap(swap(boards)).tolist() == boards.tolist()
    assert swap(boards[0]).tolist() == swap(boards)[0].tolist()


@pytest.mark.parametrize(
    ("mine", "theirs", "race"),
    [
        ({12: 15}, {12: 15}, True),
        ({13: 15}, {11: 15}, True),
        ({13: 15}, {12: 15}, None),
        ({14: 1}, {11: 2}, None),
        ({14: 1, 1: 14}, {12: 1, 10: 14}, False),
        ({1: 2}, {25: 1}, False),
        ({25: 1}, {1: 1}, False),
        ({1: 15}, {23: 1}, True),
        ({2: 15}, {24: 1}, False),
        ({1: 1}, {}, True),
    ],
)
def test_race_by_hand(mine: dict[int, int], theirs: dict[int, int], race: bool | None) -> None:
    if race is None:  # both on one absolute point: no board, only there to keep the edge in view
        with pytest.raises(RaccoonError, match="both sides"):
            validate(board(mine, theirs))
        return
    assert is_race(board(mine, theirs))[0] == race
    assert is_race(swap(board(mine, theirs)))[0] == race


def test_terminal_cases(terminal_cases: list[dict[str, Any]]) -> None:
    boards = np.stack([from_position_id(case["id"]) for case in terminal_cases])
    points = [case["points_for_side_on_roll"] for case in terminal_cases]
    assert terminal_points(boards).tolist() == points
    assert terminal_points(swap(boards)).tolist() == [-p for p in points]


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ({6: 14}, 1),
        ({24: 14}, 1),
        ({25: 1, 1: 13}, 1),
        ({1: 15}, 2),
        ({18: 1, 1: 14}, 2),
        ({19: 1, 1: 14}, 3),
        ({24: 15}, 3),
        ({25: 1, 1: 14}, 3),
    ],
)
def test_every_class_of_finished_game(loser: dict[int, int], points: int) -> None:
    assert terminal_points(board(loser, {}))[0] == -points
    assert terminal_points(board({}, loser))[0] == points


def test_finished_games_score_as_openspiel_scores_them() -> None:
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(40):
        *_, end = random_playout(rng)
        here = view(end)
        points = int(terminal_points(here.board[None])[0])
        assert end.returns()[here.player] == points
        seen.add(points)
    assert seen >= {-1, -2}

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, RaccoonError
from raccoon.env.board import START
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import afterstates_all_rolls
from raccoon.env.position_ids import (
    Position,
    from_position_id,
    from_position_key,
    from_position_keys,
    from_xgid,
    position_id,
    position_key,
    position_keys,
    to_xgid,
)
from raccoon.rng import MIX1

gnubg_nn: Any = importlib.import_module("gnubg_nn")  # its members are made at run time

TURNED = "XGID=-A-Bb-DBB---bBa---bcbbaA-A:0:0:-1:00:4:0:0:0:8"
ROLLED = "XGID=-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8"


def test_start() -> None:
    assert position_id(START) == "4HPwATDgc/ABMA"
    assert from_position_id("4HPwATDgc/ABMA").tolist() == START.tolist()
    assert position_key(START).hex() == "e073f00130e073f00130"


def test_ids_are_gnubgs(rule_cases: list[dict[str, Any]]) -> None:
    for case in rule_cases:
        board = from_position_id(case["id"])
        assert position_id(board) == case["id"] == gnubg_nn.position_id(board.tolist())
        assert np.array_equal(np.array(gnubg_nn.board_from_position_id(case["id"])), board)


def test_keys_of_a_batch() -> None:
    children, _ = afterstates_all_rolls(START[None])
    keys = position_keys(children)
    assert keys.shape == (len(children), 10)
    assert from_position_keys(keys).tolist() == children.tolist()
    assert [key.tobytes() for key in keys] == [position_key(child) for child in children]
    assert from_position_key(keys[3].tobytes()).tolist() == children[3].tolist()
    assert from_position_keys(np.zeros((0, 10), np.uint8)).shape == (0, 2, 25)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "0 characters"),
        ("4HPwATDgc/ABM", "13 characters"),
        ("4HPwATDgc/ABMAA", "15 characters"),
        ("4HPwATDgc/AB A", "outside the base64 alphabet"),
        ("!!!!!!!!!!!!!!", "outside the base64 alphabet"),
        ("4HPwATDgc-ABMA", "outside the base64 alphabet"),
        ("4HPwATDgc/ABM=", "outside the base64 alphabet"),
        ("é" * 14, "outside the base64 alphabet"),
        ("4HPwATDgc/ABMB", "more than 80 bits"),
        ("/////////////w", "more than 15 checkers"),
        ("//8BAAAAAAAAAA", "more than 15 checkers"),
        ("AAAAAAAAAAAAAg", "bits set after the last point"),
        ("AQAAAAAAAgAAAA", "both sides on one point"),
    ],
)
def test_malformed_ids(text: str, fault: str) -> None:
    with pytest.raises(RaccoonError, match=fault) as error:
        from_position_id(text)
    assert repr(text) in str(error.value)


def test_malformed_keys() -> None:
    with pytest.raises(RaccoonError, match="9 bytes instead of 10"):
        from_position_key(b"\0" * 9)
    with pytest.raises(RaccoonError, match=r"row 1 .*more than 15 checkers"):
        from_position_keys(np.array([[0] * 10, [255] * 10], np.uint8))
    with pytest.raises(RaccoonError, match="uint8"):
        from_position_keys(np.zeros((1, 10), np.int64))
    with pytest.raises(RaccoonError, match="more than 15"):
        position_id(START + START)


def test_unique_boards_keeps_first_appearances() -> None:
    children, _ = afterstates_all_rolls(START[None])
    rows = np.random.default_rng(0).integers(0, len(children), 5000)
    boards = children[rows]
    first, inverse = unique_boards(boards)
    assert np.array_equal(boards[first][inverse], boards)
    assert (np.diff(first) > 0).all()
    assert len(first) == len({board.tobytes() for board in boards})
    assert [len(part) for part in unique_boards(boards[:0])] == [0, 0]


def test_boards_of_the_same_hash_are_distinct() -> None:
    words = np.zeros((2, 7), np.uint64)
    words[1, 5:] = pow(int(MIX1), -1, 2**64), 1  # the sixth eight bytes mix to 1, and the last ones make 0 of it, as in the empty board
    boards = words.view(np.int8)[:, :50].reshape(2, 2, 25)
    first, inverse = unique_boards(boards[[0, 1, 0, 1]])
    assert first.tolist() == [0, 1]
    assert inverse.tolist() == [0, 1, 0, 1]


def test_xgid_of_the_lower_side() -> None:
    position = from_xgid(TURNED)
    assert position_id(position.board) == "GW+DAUi03ZABBg"
    assert (position.dice, position.turn, position.score) == (None, -1, (0, 4))
    assert to_xgid(position) == TURNED


def test_xgid_with_dice_and_money_rules() -> None:
    position = from_xgid(ROLLED)
    assert position_id(position.board) == "4HPkASjg2+ABMA"
    assert (position.dice, position.jacoby, position.beavers, position.match_length) == ((1, 6), True, True, 0)
    assert to_xgid(position) == ROLLED
    assert from_xgid(ROLLED.removeprefix("XGID=")) == position


def test_xgid_cube_is_an_exponent_and_its_owner_absolute() -> None:
    rest = "-b----E-C---eE---c-e----B-:3:{owner}:{turn}:D:2:4:1:7:10"
    upper = from_xgid(rest.format(owner=1, turn=1))
    assert (upper.cube_value, upper.cube_owner, upper.score, upper.crawford) == (8, OWNED, (2, 4), True)
    assert (upper.cube_action, upper.dice, upper.match_length) == ("double", None, 7)
    lower = from_xgid(rest.format(owner=1, turn=-1))
    assert (lower.cube_owner, lower.score) == (OPPONENT, (4, 2))
    assert from_xgid(rest.replace(":3:", ":0:").format(owner=0, turn=-1)).cube_owner == CENTRED
    assert from_xgid(rest.format(owner=-1, turn=-1)).cube_owner == OWNED


@pytest.mark.parametrize(
    ("cube", "fault"),
    [
        ("2:0:1:00:0:0:0:7:10", "a centred cube at 4 in a match; write its owner"),
        ("0:1:1:00:0:0:0:0:10", "a cube at 1 that has an owner; write owner 0"),
        ("0:-1:-1:00:0:0:0:7:10", "a cube at 1 that has an owner; write owner 0"),
        ("3:1:1:00:0:0:0:0:2", "a cube at 8, beyond the limit of 4; write a higher limit, such as 10"),
    ],
)
def test_cubes_that_cannot_be(cube: str, fault: str) -> None:
    with pytest.raises(RaccoonError, match=fault):
        from_xgid(f"-b----E-C---eE---c-e----B-:{cube}")


def test_automatic_doubles_leave_the_cube_of_a_money_game_centred() -> None:
    found = from_xgid("-b----E-C---eE---c-e----B-:2:0:1:00:0:0:0:0:10")
    assert (found.cube_value, found.cube_owner) == (4, CENTRED)


def test_positions_go_through_text_unchanged() -> None:
    board = from_position_id("4HPkASjg2+ABMA")
    plain = Position(board)
    money = Position(board, (6, 6), 4, OWNED, (3, 1), beavers=True, turn=-1)
    match = Position(board, None, 2, OPPONENT, (3, 1), match_length=5, crawford=True, cube_action="beaver")
    for position in (plain, money, match):
        back = from_xgid(to_xgid(position))
        assert back == position
        assert hash(back) == hash(position)
    assert plain != money
    assert plain != replace(plain, board=START)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "1 fields"),
        (ROLLED + ":1", "11 fields"),
        (ROLLED.replace("-aa-", "-a?-"), "'\\?' in the position"),
        (ROLLED.replace("-aa-", "-az-"), "'z' in the position"),
        (ROLLED.replace("-aa-", "-aé-"), "in the position"),
        (ROLLED.replace("-aa-", "aa-"), "25 characters"),
        (ROLLED.replace("=-aa-", "=Aaa-"), "lower's bar"),
        (ROLLED.replace("-aa-", "-oo-"), "more than 15"),
        (ROLLED.replace(":1:16:", ":0:16:"), "turn 0"),
        (ROLLED.replace(":1:16:", ":1:17:"), "dice '17'"),
        (ROLLED.replace(":1:16:", ":1:1:"), "dice '1'"),
        (ROLLED.replace(":0:0:1:", ":x:0:1:"), "cube exponent 'x'"),
        (ROLLED.replace(":0:0:1:", ":0:2:1:"), "cube owner 2"),
        (ROLLED.replace(":0:0:3:0:", ":0:0:4:0:"), "Crawford/Jacoby field 4"),
        (ROLLED.replace(":0:0:3:0:", ":3:0:1:3:"), "ends a match to 3"),
        (ROLLED.replace(":0:0:3:0:", ":-1:0:1:3:"), "score -1"),
    ],
)
def test_malformed_xgids(text: str, fault: str) -> None:
    with pytest.raises(RaccoonError, match=fault):
        from_xgid(text)


def test_bad_positions_are_not_written() -> None:
    with pytest.raises(RaccoonError, match="cube 3"):
        to_xgid(Position(START, cube_value=3))
    with pytest.raises(RaccoonError, match="turn 0"):
        to_xgid(Position(START, turn=0))

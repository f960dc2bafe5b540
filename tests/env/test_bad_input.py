"""Input that means nothing is refused by name, never read as something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env import board, encoder, half_moves, lookup, movegen, notation, position_ids
from raccoon.env.board import START
from raccoon.env.encoder import Encoder
from raccoon.env.formats.xgid import Position, from_xgid, to_xgid

ONE = START[None]
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"


def _with(slot: int, index: int, n: int) -> Any:
    boards = ONE.astype(np.int64)
    boards[0, slot, index] = n
    return boards


ILLEGAL = {"16 checkers": _with(1, 0, 5), "negative": _with(1, 0, -1), "both on a point": _with(0, 18, 1), "beyond int8": _with(1, 0, 300)}
NO_BOARDS = {
    "none": None, "text": "x",
    "ragged": [[1, 2], [3]], "floats": ONE.astype(float), "halves": ONE + 0.5, "one board": START, "flat": ONE[:, 0],
}  # fmt: skip
BATCH = {
    "validate": board.validate,
    "unfinished": board.unfinished,
    "afterstates": lambda b: movegen.afterstates(b, [[3, 1]]),
    "afterstates_all_rolls": movegen.afterstates_all_rolls,
    "enumerate_turns": lambda b: movegen.enumerate_turns(b, [[3, 1]]),
    "position_keys": position_ids.position_keys,
    "encode": encoder.encode,
    "encode_flat": encoder.Encoder().encode_flat,
    "legal_mask": lambda b: half_moves.legal_mask(b, [[3, 1]]),
}


@pytest.mark.parametrize("function", BATCH.values(), ids=BATCH)
@pytest.mark.parametrize("boards", [*ILLEGAL.values(), *NO_BOARDS.values()], ids=[*ILLEGAL, *NO_BOARDS])
def test_boards_that_are_none_are_refused(function: Any, boards: Any) -> None:
    with pytest.raises(RaccoonError, match="boards"):
        function(boards)


@pytest.mark.parametrize("function", [board.pips, board.is_race, board.terminal_points, lookup.unique_boards], ids=lambda f: f.__name__)
@pytest.mark.parametrize("boards", NO_BOARDS.values(), ids=NO_BOARDS)
def test_what_is_no_array_of_boards_is_refused(function: Any, boards: Any) -> None:
    with pytest.raises(RaccoonError, match="boards"):
        function(boards)


@pytest.mark.parametrize("boards", [[], None, "x", np.zeros(25)])
def test_swap_refuses_what_has_no_sides(boards: Any) -> None:
    with pytest.raises(RaccoonError, match=r"\(.., 2, 25\)"):
        board.swap(boards)


SINGLE = {
    "position_id": position_ids.position_id,
    "position_key": position_ids.position_key,
    "parse_turn": lambda b: notation.parse_turn(b, (3, 1), "8/5 6/5"),
    "format_turn": lambda b: notation.format_turn(b, START, (3, 1)),
    "format_turn child": lambda b: notation.format_turn(START, b, (3, 1)),
    "to_xgid": lambda b: to_xgid(Position(b)),
}


@pytest.mark.parametrize("function", SINGLE.values(), ids=SINGLE)
@pytest.mark.parametrize("one", [None, "x", ONE, START + 0.5, START.astype(int) + 256, ILLEGAL["negative"][0]], ids=str)
def test_one_board_that_is_none_is_refused(function: Any, one: Any) -> None:
    with pytest.raises(RaccoonError):
        function(one)


BAD_DICE = [[0, 3], [7, 1], ["a", "b"], [1.5, 2], [257, 3], [-255, 1], [True, True], [None, 1], [float("nan"), 1], [3], [[1], [2, 3]], "31"]
ROLLED = {
    "afterstates": lambda dice: movegen.afterstates(ONE, [dice]),
    "encode": lambda dice: encoder.encode(ONE, [dice]),  # pyright: ignore[reportArgumentType]
    "parse_turn": lambda dice: notation.parse_turn(START, dice, "8/5 6/5"),
    "format_turn": lambda dice: notation.format_turn(START, START, dice),
}


@pytest.mark.parametrize("function", ROLLED.values(), ids=ROLLED)
@pytest.mark.parametrize("dice", BAD_DICE, ids=str)
def test_dice_that_are_none_are_refused(function: Any, dice: Any) -> None:
    with pytest.raises(RaccoonError, match="dice"):
        function(dice)


@pytest.mark.parametrize("mid", [[2], ["no"], [0.5], [[True]]], ids=str)
def test_mid_doubles_are_booleans(mid: Any) -> None:
    with pytest.raises(RaccoonError, match="mid_doubles"):
        encoder.encode(ONE, mid_doubles=mid)


@pytest.mark.parametrize("channels", [["a"], [1.5], "base", [[1], [2, 3]]], ids=str)
def test_channels_are_integers(channels: Any) -> None:
    with pytest.raises(RaccoonError, match="channels"):
        encoder.encode(ONE, channels=channels)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"features": {"pip": "no"}}, "pip"),
        ({"features": {"pip": None}}, "pip"),
        ({"features": 5}, "features"),
        ({"features": [["pip"]]}, "features"),
        ({"normalize": "no"}, "normalize"),
    ],
)
def test_an_encoder_wants_true_or_false(arguments: dict[str, Any], key: str) -> None:
    with pytest.raises(RaccoonError, match=key):
        Encoder(**arguments)
    with pytest.raises(RaccoonError, match=key):
        Encoder.from_config(arguments)


@pytest.mark.parametrize("value", [None, 5, b"4HPwATDgc/ABMA", ["x"] * 14], ids=str)
def test_texts_are_texts(value: Any) -> None:
    for function in (position_ids.from_position_id, from_xgid, lambda text: notation.parse_turn(START, (3, 1), text)):
        with pytest.raises(RaccoonError, match="instead of a text"):
            function(value)


@pytest.mark.parametrize("key", [None, 5, "abcdefghij", [1] * 10], ids=str)
def test_keys_are_bytes(key: Any) -> None:
    with pytest.raises(RaccoonError, match="instead of bytes"):
        position_ids.from_position_key(key)


@pytest.mark.parametrize("cube", ["٣", " 3", "1_0", "", "9" * 5000])
def test_numbers_of_an_xgid_are_ascii_digits(cube: str) -> None:
    with pytest.raises(RaccoonError, match="is not a number"):
        from_xgid(XGID.replace(":0:0:1", f":{cube}:0:1"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dice", (0, 9)), ("dice", "31"), ("cube_value", "2"), ("cube_owner", 5), ("score", (-1, 0)), ("score", 3),
        ("match_length", -3), ("match_length", "x"), ("cube_action", "zz"), ("cube_limit", 99), ("turn", "1"),
    ],
)  # fmt: skip
def test_an_xgid_that_could_not_be_read_back_is_not_written(field: str, value: Any) -> None:
    with pytest.raises(RaccoonError):
        to_xgid(Position(START, **{field: value}))

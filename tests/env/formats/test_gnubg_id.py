"""Match IDs: GNUBG's manual, GNUBG's own reader and writer, and back again."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raccoon.contracts import CENTRED, OPPONENT, OWNED, RaccoonError
from raccoon.env.board import START
from raccoon.env.formats.gnubg_id import from_gnubg_id, to_gnubg_id
from raccoon.env.formats.xgid import Position, from_xgid

gnubg: Any = importlib.import_module("gnubg")  # its members are made at run time
BOARD = "4HPkASjg2+ABMA"


def test_the_example_of_gnubgs_manual() -> None:
    """A match to 9 at 2-4: player 0 holds a 2-cube, player 1 has just rolled 52."""
    found = from_gnubg_id(f"{BOARD}:QYkqASAAIAAA")
    assert (found.match_length, found.score, found.crawford) == (9, (4, 2), False)
    assert (found.cube_value, found.cube_owner, found.turn) == (2, OPPONENT, 1)
    assert found.dice == (5, 2)


@pytest.mark.parametrize(
    ("text", "xgid"),
    [  # GNUBG 1.8 read each XGID (set xgid) and wrote the GNUBG ID (gnubg.gnubgid())
        ("4HPwATDgc/ABMA:cAkAAAAAAAAA", "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:1:0:10"),
        ("jM/gDQDYzeAJIA:EQEvASAAKAAE", "XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:-1:63:5:2:0:9:10"),
        ("aM/BATDYboMBMA:cAlgAYAASAAE", "XGID=-b--BBCBB---cB---c-dba--B-:0:0:1:00:9:8:0:11:10"),
        ("4HPwATDgc/ABMA:8AngAGAAIAAE", "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:6:1:7:10"),
        ("jM/gDQDYzeAJIA:EQEAAAAAAAAA", "XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:-1:00:0:0:1:0:10"),
        ("2M3gCSCMz+ANAA:QgkKAAAAAAAE", "XGID=-a-B--E-B-a-dDB--b-bcb----:2:-1:1:42:0:0:0:0:10"),
    ],
)
def test_gnubgs_own_pairs(text: str, xgid: str) -> None:
    assert from_gnubg_id(text) == from_xgid(xgid)
    assert to_gnubg_id(from_xgid(xgid)) == text


def test_a_double_that_was_offered() -> None:
    found = from_gnubg_id(f"{BOARD}:cBEgASAAIAAE")
    assert (found.cube_action, found.turn, found.score, found.dice) == ("double", 1, (4, 2), None)
    assert to_gnubg_id(found) == f"{BOARD}:cBEgASAAIAAE"


@st.composite
def positions(draw: st.DrawFn) -> Position:
    length = draw(st.sampled_from([0, 1, 5, 7, 25, 100]))
    score = tuple(draw(st.integers(0, max(length - 1, 0) if length else 30_000)) for _ in range(2))
    exponent = draw(st.integers(0, 10))
    return Position(
        board=START,
        dice=draw(st.sampled_from([None, *((high, low) for high in range(1, 7) for low in range(1, high + 1))])),
        cube_value=1 << exponent,
        cube_owner=draw(st.sampled_from([OWNED, OPPONENT])) if exponent else CENTRED,
        score=(score[0], score[1]),
        match_length=length,
        crawford=bool(length) and sorted(score)[1] == length - 1 > sorted(score)[0] and exponent == 0,
        jacoby=not length and draw(st.booleans()),
        turn=draw(st.sampled_from([1, -1])),
    )


@settings(max_examples=100, deadline=None)
@given(positions())
def test_what_is_written_is_read_and_is_what_gnubg_writes(position: Position) -> None:
    assert from_gnubg_id(to_gnubg_id(position)) == position
    if not position.match_length:
        position = replace(position, score=(0, 0))  # a cubeinfo of GNUBG's has no score in money play
    on_roll = int(position.turn == 1)
    owner = {CENTRED: -1, OWNED: on_roll, OPPONENT: 1 - on_roll}[position.cube_owner]
    score = position.score[::-1] if on_roll else position.score
    cube = gnubg.cubeinfo(position.cube_value, owner, on_roll, position.match_length, score, int(position.crawford), 0)
    expected = gnubg.matchid(cube | {"jacoby": int(position.jacoby)}, gnubg.posinfo(on_roll, 0, 0, 1, position.dice or (0, 0)))
    assert to_gnubg_id(position) == f"4HPwATDgc/ABMA:{expected}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4HPwATDgc/ABMA", "write a Position ID, a colon and a Match ID"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAA", "not 12 of them"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAAAAAAA", "16 characters instead of 12"),
        ("4HPwATDgc/ABMA:cAkAAAAAAA!A", "outside the base64 alphabet"),
        ("4HPwATDgc/ABM:cAkAAAAAAAAA", "13 characters instead of 14"),
        ("4HPwATDgc/ABMA:AAAAAAAAAAAA", "state 0"),
        ("4HPwATDgc/ABMA:cAoAAAAAAAAA", "state 2"),
        ("4HPwATDgc/ABMA:cCkAAAAAAAAA", "a resignation waits"),
        ("4HPwATDgc/ABMA:cIkAAAAAAAAA", "dice 1 and 0"),
        ("4HPwATDgc/ABMA:cIk/AAAAAAAA", "dice 7 and 7"),
        ("4HPwATDgc/ABMA:YAkAAAAAAAAA", "owner of the cube"),
        ("4HPwATDgc/ABMA:cAEAAAAAAAAA", "not the one whose decision"),
        ("4HPwATDgc/ABMA:cJEqASAAIAAE", "after the roll"),
        ("4HPwATDgc/ABMA:cAngAHAAIAAE", "ends a match to 7"),
    ],
)
def test_what_is_no_gnubg_id_is_refused(text: str, message: str) -> None:
    with pytest.raises(RaccoonError) as caught:
        from_gnubg_id(text)
    assert message in str(caught.value)
    assert any(part in str(caught.value) for part in text.split(":"))


@pytest.mark.parametrize("change", [{"score": (40_000, 0)}, {"cube_action": "beaver"}, {"cube_value": 1 << 16, "cube_owner": OWNED}])
def test_what_a_match_id_cannot_hold_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(RaccoonError, match="position: "):
        to_gnubg_id(Position(np.array(START), **({"cube_limit": 20} | change)))  # pyright: ignore[reportArgumentType]


def test_the_higher_die_comes_first_as_gnubg_has_it() -> None:
    assert to_gnubg_id(Position(START, (1, 2))) == to_gnubg_id(Position(START, (2, 1)))

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.board import START, swap
from raccoon.env.movegen import afterstates, afterstates_all_rolls
from raccoon.env.notation import CANNOT_MOVE, format_turn, format_turns, parse_turn
from raccoon.env.position_ids import from_position_id, position_id


def board(mine: dict[int, int], theirs: dict[int, int]) -> np.ndarray:
    out = np.zeros((2, 25), np.int8)
    for slot, side in ((1, mine), (0, theirs)):
        for point, n in side.items():
            out[slot, point - 1] = n
    return out


def test_every_turn_is_read_back(rule_cases: list[dict[str, Any]]) -> None:
    for case in rule_cases[::3]:
        before = from_position_id(case["id"])
        for child in afterstates(before[None], [case["dice"]])[0]:
            text = format_turn(before, child, case["dice"])
            assert np.array_equal(parse_turn(before, case["dice"], text), child), text
            assert np.array_equal(parse_turn(before, case["dice"], text.replace("*", "")), child), text


def test_texts_of_a_position_differ() -> None:
    children, offsets = afterstates_all_rolls(START[None])
    texts = [format_turn(START, child, (4, 4)) for child in children[offsets[15] : offsets[16]]]
    assert len(set(texts)) == len(texts) > 50
    assert format_turns(START, children[offsets[15] : offsets[16]], (4, 4)) == texts


@pytest.mark.parametrize(
    ("dice", "spellings"),
    [
        ((3, 1), ["8/5 6/5", "6/5 8/5", "31: 8/5 6/5", "13: 8/5, 6/5", "  8/5   6/5 "]),
        ((6, 5), ["24/13", "24/18/13", "24/19/13"]),
        ((5, 5), ["13/3(2)", "13/8(2) 8/3(2)", "13/8/3(2)", "13/3 13/3", "13/8/3 13/8 8/3", "13/3 (2)"]),
        ((4, 4), ["24/20(2) 13/9(2)", "24/20 (2) 13/9 (2)", "24/20 24/20 13/9 13/9"]),
    ],
)
def test_spellings_of_opening_plays(dice: tuple[int, int], spellings: list[str]) -> None:
    first, *others = [parse_turn(START, dice, text) for text in spellings]
    for text, child in zip(spellings[1:], others, strict=True):
        assert np.array_equal(child, first), text
    assert format_turn(START, first, dice) == spellings[0].removeprefix("31: ")


def test_bar_hits_and_bear_off() -> None:
    before = board({25: 1, 13: 2, 6: 3}, {3: 1, 20: 2})
    entered = parse_turn(before, (3, 4), "25/22* 6/2")
    assert format_turn(before, entered, (3, 4)) == "bar/22* 6/2"
    for text in ("bar/22 6/2", "Bar/22*, 6/2", "b/22 6/2", "43: 25/22 6/2"):
        assert np.array_equal(parse_turn(before, (3, 4), text), entered), text
    home = board({6: 2, 5: 3, 2: 1}, {3: 2})
    off = parse_turn(home, (6, 6), "6/off(2) 5/off(2)")
    assert format_turn(home, off, (6, 6)) == "6/off(2) 5/off(2)"
    assert np.array_equal(parse_turn(home, (6, 6), "6/0(2) 5/Off 5/o"), off)


def test_overage_and_long_bear_off() -> None:
    before = board({9: 1, 1: 2}, {3: 2})
    child = parse_turn(before, (6, 5), "65: 9/Off")
    assert child[0].sum() == 2
    assert format_turn(before, child, (6, 5)) == "9/off"


def test_a_hit_on_the_way() -> None:
    before = board({13: 2, 6: 3}, {14: 1, 1: 2})
    hit = parse_turn(before, (2, 3), "13/11*/8")
    around = parse_turn(before, (2, 3), "13/8")
    assert format_turn(before, hit, (2, 3)) == "13/11*/8"
    assert format_turn(before, around, (2, 3)) == "13/8"
    assert np.array_equal(parse_turn(before, (2, 3), "13/11/8"), hit)
    assert np.array_equal(parse_turn(before, (2, 3), "13/10/8"), around)
    blocked = board({13: 2, 6: 3}, {14: 1, 15: 2})
    # with 10 held the only way is through the blot on 11
    assert np.array_equal(parse_turn(blocked, (2, 3), "13/8"), parse_turn(blocked, (2, 3), "13/11*/8"))


def test_two_routes_over_two_blots_need_a_star() -> None:
    before = board({13: 2, 6: 3}, {14: 1, 15: 1})
    with pytest.raises(RaccoonError, match=r"several plays fit, hitting on \[\[1[01]\], \[1[01]\]\]"):
        parse_turn(before, (2, 3), "13/8")
    assert {position_id(parse_turn(before, (2, 3), text)) for text in ("13/11*/8", "13/10*/8")} == {
        position_id(parse_turn(before, (2, 3), text)) for text in ("13/11/8", "13/10/8")
    }


def test_star_on_a_point_that_two_checkers_make() -> None:
    before = board({8: 1, 6: 2}, {20: 1, 1: 2})
    child = parse_turn(before, (3, 1), "8/5 6/5")
    assert format_turn(before, child, (3, 1)) == "8/5* 6/5"
    for text in ("8/5* 6/5*", "8/5 6/5*"):
        assert np.array_equal(parse_turn(before, (3, 1), text), child)
    double = board({8: 2}, {20: 1, 23: 2})
    assert np.array_equal(parse_turn(double, (3, 3), "8/5*(2)"), parse_turn(double, (3, 3), "8/5(2)*"))


def test_dances() -> None:
    before = board({25: 2, 6: 5}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2})
    for text in ("Cannot Move", "66:", "66: Cannot Move", "", "no play", "Dance"):
        assert np.array_equal(parse_turn(before, (6, 6), text), swap(before))
    assert format_turn(before, swap(before), (6, 6)) == CANNOT_MOVE


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Cannot Move", "there is a legal play"),
        ("????", "'\\?\\?\\?\\?' is no checker move"),
        ("8/5", "not a legal play"),
        ("8/5 6/4", "not a legal play"),
        ("5/8 6/5", "'5/8' does not go"),
        ("26/5", "'26/5' does not go"),
        ("bar/22 6/5", "not a legal play"),
        ("8/5* 6/5", "no legal play hits on \\[5\\]"),
        ("8/5(5)", "is no checker move"),
        ("21: 8/5 6/5", "another roll, 21"),
        ("8/5 6/5 Takes", "'Takes' is no checker move"),
    ],
)
def test_bad_texts_are_named(text: str, fault: str) -> None:
    with pytest.raises(RaccoonError, match=fault) as error:
        parse_turn(START, (3, 1), text)
    assert "8/5" in str(error.value) or repr(text) in str(error.value)


def test_a_board_that_no_play_reaches_is_not_written() -> None:
    with pytest.raises(RaccoonError, match="no legal play leads to"):
        format_turn(START, START, (3, 1))

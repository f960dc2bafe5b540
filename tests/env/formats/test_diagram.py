"""The drawn board: every checker on its numbered point, read back from the text."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.board import START
from raccoon.env.formats.diagram import draw

MIXED = np.zeros((2, 25), np.int8)  # a checker on the bar, some off, a tall stack
MIXED[1, [5, 3, 24, 12]] = [8, 2, 1, 1]
MIXED[0, [5, 2, 23, 9]] = [3, 2, 1, 4]


def counted(text: str) -> dict[int, int]:
    """Checkers by point in the numbering of the side on roll, O's negative, as the drawing shows them."""
    lines = text.splitlines()
    found: dict[int, int] = {}
    for edge, rows in ((lines[1], lines[2:7]), (lines[13], lines[12:7:-1])):
        for column in range(1, 39):
            number = edge[column : column + 3].strip()
            if (edge[column - 1] not in "+- " and column != 1) or not number.isdigit():
                continue
            cells = [row[column : column + 3].strip() for row in rows]
            letter = cells[0]
            height = next((int(cell) for cell in cells if cell.isdigit()), sum(cell == letter for cell in cells if cell))
            if letter:
                found[int(number)] = height if letter == "X" else -height
    return found


@pytest.mark.parametrize("board", [START, MIXED], ids=["start", "mixed"])
def test_every_checker_is_on_its_point(board: np.ndarray) -> None:
    expected = {point: int(board[1, point - 1]) or -int(board[0, 24 - point]) for point in range(1, 25)}
    assert counted(draw(board)) == {point: count for point, count in expected.items() if count}


def test_around_the_points() -> None:
    lines = draw(MIXED).splitlines()
    assert lines[0] == "O: 88 pips, 5 off"
    assert lines[1] == "+13 14 15 16 17 18 -+-19 20 21 22 23 24 +"
    assert lines[7] == "|" + "bar: X 1".center(39) + "| [1]"
    assert lines[-2] == "+12 11 10  9  8  7 -+- 6  5  4  3  2  1 +"
    assert lines[-1] == "X: 94 pips, 3 off, on roll"
    assert {len(line) for line in lines[1:7] + lines[8:14]} == {41}


def test_the_cube_stands_beside_its_owner() -> None:
    shown = {
        owner: [number for number, line in enumerate(draw(START, 4, owner).splitlines()) if line.endswith("| [4]")] for owner in (-1, 0, 1)
    }
    assert shown == {-1: [2], 0: [7], 1: [12]}
    assert counted(draw(START, 4, 1)) == counted(draw(START))


def test_the_other_side_may_be_on_roll() -> None:
    first, *_, last = draw(START, on_roll=False).splitlines()
    assert (first, last) == ("O: 167 pips, 0 off, on roll", "X: 167 pips, 0 off")


def test_an_illegal_board_is_refused() -> None:
    with pytest.raises(RaccoonError):
        draw(np.full((2, 25), 2, np.int8))

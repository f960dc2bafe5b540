"""A board drawn in text, for terminals."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from raccoon.env.board import as_board, check, pips

__all__ = ["draw"]

_MOST = 5


def draw(board: ArrayLike) -> str:
    """The board from the side on roll: ``X`` (slot 1) moves to its home at the lower right, ``O`` (slot 0) is the other side.

    Points carry the numbers of the side on roll; stacks above five show their height, and so does the bar. ``[1]``
    is the cube, centred. Raises RaccoonError for an illegal board.
    """
    array = as_board(board)
    check(array[None])
    other, mine = array.tolist()
    points = {p: mine[p - 1] or -other[24 - p] for p in range(1, 25)}  # X's count, O's negative
    theirs, ours = (int(count) for count in pips(array[None])[0])
    top, bottom = range(13, 25), range(12, 0, -1)
    middle = " ".join(part for part in (f"O {other[24]}" if other[24] else "", f"X {mine[24]}" if mine[24] else "") if part)
    lines = [f"O: {theirs} pips, {15 - sum(other)} off", _edge([f"{point:^3}" for point in top])]
    lines += [_line(points, top, height) for height in range(_MOST)]
    lines.append("|" + (f"bar: {middle}" if middle else "").center(39) + "| [1]")
    lines += [_line(points, bottom, height) for height in reversed(range(_MOST))]
    lines += [_edge([f"{point:^3}" for point in bottom]), f"X: {ours} pips, {15 - sum(mine)} off, on roll"]
    return "\n".join(lines)


def _edge(cells: Sequence[str]) -> str:
    return "+" + "".join(cells[:6]) + "-+-" + "".join(cells[6:]) + "+"


def _line(points: dict[int, int], numbers: range, height: int) -> str:
    """One checker high: ``height`` counts from the edge."""
    cells: list[str] = []
    for point in numbers:
        count, letter = abs(points[point]), "X" if points[point] > 0 else "O"
        tall = height == _MOST - 1 and count > _MOST
        cells.append(f"{count:^3}" if tall else f" {letter} " if count > height else "   ")
    return "|" + "".join(cells[:6]) + " | " + "".join(cells[6:]) + "|"

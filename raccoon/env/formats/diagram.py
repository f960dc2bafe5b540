"""A board drawn in text, for terminals."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from raccoon.contracts import CENTRED, OWNED
from raccoon.env.board import as_board, check, pips

__all__ = ["draw"]

_MOST = 5


def draw(board: ArrayLike, cube: int = 1, owner: int = CENTRED, on_roll: bool = True) -> str:
    """The board as the player of slot 1 sees it: ``X`` moves to its home at the lower right, ``O`` (slot 0) is the other side.

    Points carry the numbers of ``X``; stacks above five show their height, and so does the bar. ``[1]`` is the ``cube``: in the middle
    while it is centred, else beside its ``owner``'s home (as ``X`` sees it). ``on_roll``: ``X`` is, else ``O``. Raises RaccoonError for an
    illegal board.
    """
    array = as_board(board)
    check(array[None])
    other, mine = array.tolist()
    points = {p: mine[p - 1] or -other[24 - p] for p in range(1, 25)}  # X's count, O's negative
    theirs, ours = (int(count) for count in pips(array[None])[0])
    top, bottom = range(13, 25), range(12, 0, -1)
    middle = " ".join(part for part in (f"O {other[24]}" if other[24] else "", f"X {mine[24]}" if mine[24] else "") if part)
    rows = [_line(points, top, height) for height in range(_MOST)]
    rows.append("|" + (f"bar: {middle}" if middle else "").center(39) + "|")
    rows += [_line(points, bottom, height) for height in reversed(range(_MOST))]
    rows[_MOST if owner == CENTRED else -1 if owner == OWNED else 0] += f" [{cube}]"
    turn = ", on roll"
    return "\n".join(
        [
            f"O: {theirs} pips, {15 - sum(other)} off{'' if on_roll else turn}",
            _edge([f"{point:^3}" for point in top]),
            *rows,
            _edge([f"{point:^3}" for point in bottom]),
            f"X: {ours} pips, {15 - sum(mine)} off{turn if on_roll else ''}",
        ]
    )


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

"""A board drawn as SVG, for reports and pages. One self-contained element without scripts, fonts or links.

Every point is a group of class ``point`` with ``data-point``, its number for the side at the bottom (0 off, 25 the bar); checkers have
the class ``white`` (player 0) or ``black`` (player 1). A page can style all of them and listen for clicks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise

import numpy as np

from raccoon.contracts import CENTRED, OWNED, Boards
from raccoon.env.board import pips, swap
from raccoon.env.formats.xgid import Position
from raccoon.matches.record import LABELS

__all__ = ["STYLE", "board_svg"]

_CELL, _EDGE, _TALL = 40, 52, 200
"""Width of a point, of the margins left and right, and the height of half a board."""
_TOP = 22
_WIDTH, _HEIGHT = 2 * _EDGE + 13 * _CELL, 2 * (_TALL + _TOP) + 40
_MOST = 5
_STEP = re.compile(r"(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?")

STYLE = """.board{--felt:#f3ead8;--wood:#7a5a3a;--odd:#c8a878;--even:#8c6a46;--ink:#222}
.board{font:13px system-ui,sans-serif;max-width:100%;height:auto}
.board .felt{fill:var(--felt)}.board .frame{fill:var(--wood)}.board .odd{fill:var(--odd)}.board .even{fill:var(--even)}
.board .checker{stroke:#333;stroke-width:1.5}.board .white{fill:#fdfdf8}.board .black{fill:#2b2b33}
.board .on-white{fill:#222}.board .on-black{fill:#fff}.board text{text-anchor:middle;dominant-baseline:central}
.board .number{fill:#fff;font-size:12px}.board .die,.board .cube{fill:#fff;stroke:#333}.board .pip{fill:#222}
.board .arrow{stroke:#1769aa;stroke-width:4;stroke-linecap:round;fill:none;opacity:.75}"""
"""Colours and fonts of every board; once a page."""


def board_svg(
    position: Position, bottom: int | None = None, move: str | None = None, names: tuple[str, str] = LABELS, alone: bool = False
) -> str:
    """The position as an ``<svg>``. ``turn`` 1 of the position says that player 0 is on roll.

    ``bottom``: the player whose home is at the lower right, None: the one on roll. ``move``: a play of the side on roll, shown as arrows.
    ``alone``: with ``STYLE`` in it, as a file of its own needs.
    """
    on_roll = 0 if position.turn == 1 else 1
    bottom = on_roll if bottom is None else bottom
    board = position.board if bottom == on_roll else swap(position.board)
    told = f"{names[on_roll]} on roll" + (f" with {position.dice[0]}-{position.dice[1]}" if position.dice else "")
    parts = [
        f'<svg class="board" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img"><title>{escape(told)}</title>',
        f"<style>{STYLE}</style>" if alone else "",
        f'<rect class="frame" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
        *(f'<rect class="felt" x="{x}" y="{_TOP}" width="{6 * _CELL}" height="{_HEIGHT - 2 * _TOP}"/>' for x in (_EDGE, _EDGE + 7 * _CELL)),
        *(_point(board, point, bottom) for point in range(1, 25)),
        *_bar_and_off(board, bottom),
        *_cube(position, bottom, on_roll),
        *_dice(position, bottom, on_roll),
        *_pips(board, bottom, names),
        *_arrows(move, bottom == on_roll),
    ]
    return "".join(parts) + "</svg>"


def _x(point: int) -> float:
    """Middle of a point (of the side at the bottom), 25 the bar, 0 off."""
    if point == 0:
        return _WIDTH - _EDGE / 2
    if point == 25:
        return _EDGE + 6.5 * _CELL
    column = 12 - point if point <= 12 else point - 13
    return _EDGE + (column + (column >= 6) + 0.5) * _CELL


def _y(point: int, height: int) -> float:
    """Middle of the checker number ``height`` from the edge."""
    up = point <= 12
    away = _TOP + (height + 0.5) * (_TALL - 10) / _MOST
    return _HEIGHT - away if up else away


def _point(board: Boards, point: int, bottom: int) -> str:
    x, low = _x(point) - _CELL / 2, point <= 12
    base, tip = (_HEIGHT - _TOP, _HEIGHT - _TOP - _TALL + 14) if low else (_TOP, _TOP + _TALL - 14)
    shade = "odd" if point % 2 else "even"
    mine, theirs = int(board[1, point - 1]), int(board[0, 24 - point])
    number_y = _HEIGHT - _TOP / 2 if low else _TOP / 2
    return (
        f'<g class="point" data-point="{point}"><path class="{shade}" d="M{x:g} {base}h{_CELL}L{x + _CELL / 2:g} {tip}z"/>'
        f'<text class="number" x="{_x(point):g}" y="{number_y:g}">{point}</text>'
        + _stack(point, mine or theirs, bottom if mine else 1 - bottom)
        + "</g>"
    )


def _stack(point: int, count: int, player: int) -> str:
    """Checkers of a point from its edge on; a number where there are more than fit."""
    side, x = ("white", "black")[player], _x(point)
    parts = [f'<circle class="checker {side}" cx="{x:g}" cy="{_y(point, height):g}" r="18"/>' for height in range(min(count, _MOST))]
    if count > _MOST:
        parts.append(f'<text class="on-{side}" x="{x:g}" y="{_y(point, _MOST - 1):g}">{count}</text>')
    return "".join(parts)


def _bar_and_off(board: Boards, bottom: int) -> Iterator[str]:
    for slot, player in ((1, bottom), (0, 1 - bottom)):
        side, low = ("white", "black")[player], slot == 1
        on_bar, off = int(board[slot, 24]), 15 - int(board[slot].sum())
        middle = _HEIGHT / 2 + (-62 if low else 62)  # the bottom player's checkers enter at the top
        where = ' data-point="25"' if low else ""
        checker = f'<circle class="checker {side}" cx="{_x(25):g}" cy="{middle:g}" r="18"/>' if on_bar else ""
        count = f'<text class="on-{side}" x="{_x(25):g}" y="{middle:g}">{on_bar}</text>' if on_bar > 1 else ""
        yield f'<g class="point bar"{where}>{checker}{count}</g>'
        y = _HEIGHT - _TOP - 30 if low else _TOP + 30
        tray = (
            f'<rect class="checker {side}" x="{_WIDTH - _EDGE + 10}" y="{y - 18:g}" width="{_EDGE - 20}" height="36" rx="5"/>'
            if off
            else ""
        )
        text = f'<text class="on-{side}" x="{_x(0):g}" y="{y:g}">{off}</text>' if off else ""
        where = ' data-point="0"' if low else ""
        yield f'<g class="point off"{where}>{tray}{text}</g>'


def _cube(position: Position, bottom: int, on_roll: int) -> Iterator[str]:
    if not position.cube_limit:
        return
    owner = None if position.cube_owner == CENTRED else on_roll if position.cube_owner == OWNED else 1 - on_roll
    y = _HEIGHT / 2 if owner is None else _HEIGHT - _TOP - 24 if owner == bottom else _TOP + 24
    value = 64 if position.cube_value == 1 else position.cube_value
    yield f'<rect class="cube" x="8" y="{y - 18:g}" width="36" height="36" rx="6"/><text x="26" y="{y:g}">{value}</text>'


_PIPS = {1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "acdfgi"}


def _dice(position: Position, bottom: int, on_roll: int) -> Iterator[str]:
    """On the right half for the side at the bottom, on the left for the other."""
    centre = _EDGE + (10 if on_roll == bottom else 3) * _CELL
    for index, die in enumerate(position.dice or ()):
        left, top = centre - 38 + 42 * index, _HEIGHT / 2 - 17
        yield f'<rect class="die" x="{left:g}" y="{top:g}" width="34" height="34" rx="6"/>'
        for place in _PIPS[int(die)]:
            at = ord(place) - ord("a")
            yield f'<circle class="pip" cx="{left + 8 + 9 * (at % 3):g}" cy="{top + 8 + 9 * (at // 3):g}" r="3"/>'


def _pips(board: Boards, bottom: int, names: tuple[str, str]) -> Iterator[str]:
    theirs, mine = (int(count) for count in pips(np.ascontiguousarray(board)[None])[0])
    for y, count, player in ((_HEIGHT / 2 + 40, mine, bottom), (_HEIGHT / 2 - 40, theirs, 1 - bottom)):
        yield f'<text class="number" x="{_x(0):g}" y="{y:g}">{count}<title>pips of {escape(names[player])}</title></text>'


def _arrows(move: str | None, mine: bool) -> Iterator[str]:
    """A line with a dot at its end for each checker that moves; ``mine``: of the side at the bottom."""
    for start, path, count in _STEP.findall((move or "").lower()):
        places = [25 if start == "bar" else int(start), *(0 if part == "off" else int(part) for part in re.findall(r"off|\d+", path))]
        for index in range(int(count or 1)):
            for source, target in pairwise(places):
                (x1, y1), (x2, y2) = _at(source, index, mine), _at(target, index, mine)
                yield f'<path class="arrow" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/><circle class="arrow" cx="{x2:g}" cy="{y2:g}" r="5"/>'


def _at(place: int, index: int, mine: bool) -> tuple[float, float]:
    if place == 25:
        return _x(25), _HEIGHT / 2 + (-62 if mine else 62)
    if place == 0:
        return _x(0), _HEIGHT - _TOP - 30 if mine else _TOP + 30
    point = place if mine else 25 - place
    return _x(point), _y(point, index)

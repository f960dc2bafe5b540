"""Turns as text: ``8/5 6/5``, ``bar/22*``, ``13/8*/3``, ``6/off(2)``, and the spellings that match files use.

Points are the mover's own, 25 or ``bar`` is its bar, 0 or ``off`` is off the board. Not a hot path.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.env.board import as_array, as_board, swap
from raccoon.env.movegen import afterstates, check_dice, step, undo
from raccoon.env.position_ids import position_id

__all__ = ["CANNOT_MOVE", "DANCES", "format_turn", "format_turns", "parse_turn"]

CANNOT_MOVE = "Cannot Move"
"""What ``format_turn`` says of a dance."""
DANCES = frozenset({"", "cannot move", "can't move", "no move", "no play", "no legal move", "dance", "dances", "pass"})
"""What programs and people write for a dance, in small letters."""
_ROLL = re.compile(r"^\s*([1-6])\s*-?\s*([1-6])\s*:\s*")
_MOVE = re.compile(r"^(?P<path>(?:bar|b|\d{1,9})\*?(?:/(?:off|o|\d{1,9})\*?)+)(?:\((?P<count>[1-4])\))?(?P<star>\*?)$")
_WORDS = {"bar": 25, "b": 25, "off": 0, "o": 0}

_Step = tuple[int, int, bool]
"""From point, to point (25 bar, 0 off), hit."""


@dataclass(frozen=True)
class _Text:
    """What a text says: net change of the mover's 26 places (index 0 off, 25 bar), points it visits and points it stars."""

    change: tuple[int, ...]
    visited: frozenset[int]
    starred: frozenset[int]


def _sequences(board: Boards, dice: tuple[int, ...], ordered: bool, found: dict[bytes, list[list[_Step]]]) -> None:
    """Add to ``found``, by the bytes of the afterstate (opponent in slot 1), every sequence of checker moves with ``dice`` in this order,
    those that stop early included (``ordered``: from high points to low ones)."""
    mover, other = board[1].copy(), board[0].copy()

    def extend(path: list[_Step], highest: int) -> None:
        if len(path) < len(dice):
            die = dice[len(path)]
            for source in range(highest, -1, -1):
                kind = step(mover, other, source, die) if mover[source] else 0
                if kind:
                    extend([*path, (source + 1, max(source + 1 - die, 0), kind == 2)], source if ordered else 24)
                    undo(mover, other, source, die, kind)
        found.setdefault(mover.tobytes() + other.tobytes(), []).append(path)

    extend([], 24)


def _chains(steps: list[_Step]) -> list[str]:
    """Steps joined into one path a checker; points passed without a hit are left out."""
    rest = sorted(steps, key=lambda move: (-move[0], -move[1], not move[2]))
    texts: list[str] = []
    while rest:
        source, target, hit = rest.pop(0)
        text = "bar" if source == 25 else str(source)
        while True:
            following = next((move for move in rest if move[0] == target), None)
            if following is None:
                break
            if hit:
                text += f"/{target}*"
            rest.remove(following)
            _, target, hit = following
        texts.append(f"{text}/{target or 'off'}{'*' if hit else ''}")
    return texts


def _write(steps: list[_Step]) -> str:
    counts = Counter(_chains(steps))
    return " ".join(f"{text}({n})" if n > 1 else text for text, n in counts.items())


def _dice(dice: ArrayLike) -> tuple[int, int]:
    first, second = check_dice(as_array(dice, "dice")[None], 1)[0].tolist()
    return first, second


def format_turn(before: ArrayLike, child: ArrayLike, dice: ArrayLike) -> str:
    """The text of a turn, e.g. ``8/5* 6/5``; ``Cannot Move`` for a dance.

    ``before int8[2, 25]`` with the mover in slot 1, ``child int8[2, 25]`` the afterstate (opponent in slot 1), ``dice``
    two numbers. ``parse_turn`` reads the text back. Raises RaccoonError when no legal play leads to ``child``.
    """
    return format_turns(before, as_board(child, "child")[None], dice)[0]


def format_turns(before: ArrayLike, children: Boards, dice: ArrayLike) -> list[str]:
    """``format_turn`` of each of ``children int8[M, 2, 25]``, all after one position and roll, in hardly more time than one takes."""
    board = as_board(before)
    high, low = sorted(_dice(dice), reverse=True)
    legal = {child.tobytes() for child in afterstates(board[None], [[high, low]])[0]}
    found: dict[bytes, list[list[_Step]]] = {}
    for order in [(high,) * 4] if high == low else [(high, low), (low, high)]:
        _sequences(board, order, high == low, found)
    texts: list[str] = []
    for child in children:
        key = child.tobytes()
        if key not in legal:
            raise RaccoonError(f"turn {high}-{low}: no legal play leads to slot 0 {child[0].tolist()}, slot 1 {child[1].tolist()}")
        texts.append(CANNOT_MOVE if np.array_equal(child, swap(board)) else _shortest(found[key]))
    return texts


def _shortest(sequences: list[list[_Step]]) -> str:
    """The text of one of the sequences, which end alike: the fewest moves, then the fewest hits."""
    texts = [_write(steps) for steps in sequences]
    return min(texts, key=lambda text: (text.count("/"), text.count("*"), texts.index(text)))


def _read(text: str) -> _Text:
    change = [0] * 26
    visited: set[int] = set()
    starred: set[int] = set()
    for token in re.split(r"[\s,;]+", re.sub(r"\s*\(\s*([1-4])\s*\)", r"(\1)", text.strip())):
        match = _MOVE.match(token.lower())
        if match is None:
            raise RaccoonError(f"turn {quoted(text)}: {quoted(token)} is no checker move; write it like 8/5, bar/22* or 6/off(2)")
        places = [part.rstrip("*") for part in match["path"].split("/")]
        points = [_WORDS[part] if part in _WORDS else int(part) for part in places]
        if points[0] > 25 or any(a <= b for a, b in pairwise(points)):
            raise RaccoonError(f"turn {quoted(text)}: {quoted(token)} does not go from a point (or the bar, 25) to lower ones (or off, 0)")
        count = int(match["count"] or 1)
        change[points[0]] -= count
        change[points[-1]] += count
        visited.update(points[1:])
        starred.update(point for point, part in zip(points, match["path"].split("/"), strict=True) if part.endswith("*"))
        if match["star"]:
            starred.add(points[-1])
    return _Text(tuple(change), frozenset(visited), frozenset(starred))


def _hits(board: Boards, child: Boards) -> frozenset[int]:
    """Mover's points where the play hit."""
    return frozenset(24 - int(i) for i in np.flatnonzero(board[0, :24] != child[1, :24]))


def parse_turn(board: ArrayLike, dice: ArrayLike, text: str) -> Boards:
    """The legal afterstate ``int8[2, 25]`` (opponent in slot 1) that ``text`` means.

    ``board int8[2, 25]`` with the mover in slot 1. A leading ``31:`` is allowed, missing ``*`` are inferred, chains may
    name every point or only the ends, and nothing, ``Cannot Move`` and the like mean a dance. Where a play through a
    blot and one around it end alike, no star means around. Raises RaccoonError naming the text.
    """
    before = as_board(board)
    if not isinstance(text, str):
        raise RaccoonError(f"turn {quoted(text)}: {type(text).__name__} instead of a text")
    roll = _dice(dice)
    where = f"turn {quoted(text)} with {roll[0]}-{roll[1]}"
    prefix = _ROLL.match(text)
    if prefix is not None and sorted(map(int, prefix.groups())) != sorted(roll):
        raise RaccoonError(f"{where}: the text names another roll, {prefix[1]}{prefix[2]}")
    body = text[prefix.end() :] if prefix else text
    children, _ = afterstates(before[None], [roll])
    if " ".join(body.lower().split()) in DANCES:
        if not np.array_equal(children[0], swap(before)):
            raise RaccoonError(f"{where}: there is a legal play, so this is no dance")
        return children[0]
    said = _read(body)
    wanted = before[1].astype(int) + np.array(said.change[1:])
    matching = [child for child in children if np.array_equal(child[0], wanted)]
    if not matching:
        raise RaccoonError(f"{where}: not a legal play from {position_id(before)}")
    hits = [_hits(before, child) for child in matching]
    blots = frozenset(24 - int(i) for i in np.flatnonzero(before[0, :24] == 1))
    exact = [i for i, hit in enumerate(hits) if hit == said.starred | (said.visited & blots)]
    chosen = exact if exact else [i for i, hit in enumerate(hits) if said.starred <= hit]
    if not chosen:
        raise RaccoonError(f"{where}: no legal play hits on {sorted(said.starred)}")
    if len(chosen) > 1:
        raise RaccoonError(f"{where}: several plays fit, hitting on {[sorted(hits[i]) for i in chosen]}; mark the hits with *")
    return matching[chosen[0]]

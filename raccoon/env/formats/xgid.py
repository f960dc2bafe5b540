"""XGIDs: a position with its cube, dice and score on one line, as eXtreme Gammon writes it.

``XGID=position:cube:owner:turn:dice:score:score:rules:length:limit``. The text is absolute: upper case is one player
("upper"), lower case the other, whoever is on roll; ``turn`` is 1 when upper is on roll, -1 when lower is, and the
owner is 1, -1 or 0 (centred) in the same sense. A ``Position`` is seen from the side on roll.

Cube and limit are exponents of 2: a limit of 10 lets the cube go to 1024, one of 0 leaves it at 1 for the whole game, which is a
game without doubling. A cube that was turned has an owner, but for automatic doubles in money play, which leave it centred.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, Boards, RaccoonError
from raccoon.env.board import as_board, check, validate

__all__ = ["Position", "from_xgid", "to_xgid"]

_CUBE_ACTIONS = {"D": "double", "B": "beaver", "R": "raccoon"}
_LIMIT = 10
_NUMBER = re.compile(r"-?[0-9]{1,20}")


@dataclass(frozen=True, eq=False)
class Position:
    """A position with everything around it, seen from the side on roll.

    ``board int8[2, 25]`` (slot 1 on roll); ``dice`` None before the roll; ``cube_value`` a power of two;
    ``cube_owner`` CENTRED, OWNED or OPPONENT; ``score`` (on roll, other); ``match_length`` 0 for money; ``crawford``
    in matches, ``jacoby`` and ``beavers`` in money play; ``cube_action`` "" or the action that waits for an answer
    ("double", "beaver", "raccoon"); ``cube_limit`` the exponent of the highest cube (0: never turned); ``turn`` 1 or -1: which of the
    two absolute players is on roll (it only matters for writing the text back).
    """

    board: Boards
    dice: tuple[int, int] | None = None
    cube_value: int = 1
    cube_owner: int = CENTRED
    score: tuple[int, int] = (0, 0)
    match_length: int = 0
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    cube_action: str = ""
    cube_limit: int = _LIMIT
    turn: int = 1

    def _rest(self) -> tuple[object, ...]:
        rules = (self.match_length, self.crawford, self.jacoby, self.beavers, self.cube_limit)
        return (self.dice, self.cube_value, self.cube_owner, self.score, self.cube_action, self.turn, *rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and np.array_equal(self.board, other.board) and self._rest() == other._rest()

    def __hash__(self) -> int:
        return hash((np.asarray(self.board).tobytes(), self._rest()))


def _count(letter: str, text: str) -> int:
    """Checkers of one letter: positive for upper, negative for lower, 0 for ``-``."""
    if letter == "-":
        return 0
    n = ord(letter.upper()) - ord("A") + 1
    if not (letter.isascii() and letter.isalpha() and n <= 15):
        raise RaccoonError(f"XGID {quoted(text)}: {quoted(letter)} in the position is neither '-' nor a letter a-o, A-O")
    return n if letter.isupper() else -n


def _sides(field: str, text: str) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The 25 numbers of upper and of lower, each in its own numbering."""
    if len(field) != 26:
        raise RaccoonError(f"XGID {quoted(text)}: the position has {len(field)} characters instead of 26")
    counts = [_count(letter, text) for letter in field]
    upper, lower = np.zeros(25, np.int8), np.zeros(25, np.int8)
    if counts[0] > 0 or counts[25] < 0:
        raise RaccoonError(f"XGID {quoted(text)}: the first character is lower's bar (lower case), the last upper's (upper case)")
    for point in range(1, 26):
        upper[point - 1] = max(counts[point], 0)
    for point in range(25):
        lower[24 - point] = max(-counts[point], 0)
    return upper, lower


def _number(field: str, name: str, text: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(field):
        raise RaccoonError(f"XGID {quoted(text)}: {name} {quoted(field)} is not a number")
    value = int(field)
    if not low <= value <= high:
        raise RaccoonError(f"XGID {quoted(text)}: {name} {value} is outside {low}..{high}")
    return value


def _dice(field: str, text: str) -> tuple[tuple[int, int] | None, str]:
    if field == "00":
        return None, ""
    if field in _CUBE_ACTIONS:
        return None, _CUBE_ACTIONS[field]
    if len(field) == 2 and all(c in "123456" for c in field):
        return (int(field[0]), int(field[1])), ""
    raise RaccoonError(f"XGID {quoted(text)}: dice {quoted(field)} are neither 00, two numbers 1..6, D, B nor R")


def _cube_fault(cube: int, owner: int, length: int, limit: int) -> str:
    """What is wrong with a cube at ``2 ** cube``; empty when nothing is."""
    if owner and not cube:
        return "a cube at 1 that has an owner; write owner 0, or the exponent that the cube is at"
    if length and cube and not owner:
        return f"a centred cube at {1 << cube} in a match; write its owner (1 or -1), or exponent 0"
    if cube > limit:
        return f"a cube at {1 << cube}, beyond the limit of {1 << limit}; write a higher limit, such as {_LIMIT}"
    return ""


def from_xgid(text: str, empty: bool = False) -> Position:
    """Read an XGID, with or without ``XGID=`` in front. Raises RaccoonError naming the text and the bad field; ``empty``: a board that
    nobody has a checker on is read as well, for who sets one up."""
    if not isinstance(text, str):
        raise RaccoonError(f"XGID {quoted(text)}: {type(text).__name__} instead of a text")
    fields = text.strip().removeprefix("XGID=").split(":")
    if len(fields) != 10:
        raise RaccoonError(
            f"XGID {quoted(text)}: {len(fields)} fields instead of 10 (position:cube:owner:turn:dice:score:score:rules:length:limit)"
        )
    upper, lower = _sides(fields[0], text)
    turn = _number(fields[3], "turn", text, -1, 1)
    if turn == 0:
        raise RaccoonError(f"XGID {quoted(text)}: turn 0 is neither 1 nor -1")
    board = np.stack([lower, upper] if turn == 1 else [upper, lower])
    (check if empty else validate)(board[None], f"XGID {quoted(text)}")
    dice, action = _dice(fields[4], text)
    scores = _number(fields[5], "score", text, 0, 10**6), _number(fields[6], "score", text, 0, 10**6)
    length = _number(fields[8], "match length", text, 0, 10**6)
    if length and max(scores) >= length:
        raise RaccoonError(f"XGID {quoted(text)}: the score {scores[0]}-{scores[1]} ends a match to {length}")
    rules = _number(fields[7], "the Crawford/Jacoby field", text, 0, 1 if length else 3)
    limit = _number(fields[9], "cube limit", text, 0, 30)
    cube, owner = _number(fields[1], "cube exponent", text, 0, 30), _number(fields[2], "cube owner", text, -1, 1)
    if fault := _cube_fault(cube, owner, length, limit):
        raise RaccoonError(f"XGID {quoted(text)}: {fault}")
    return Position(
        board=board,
        dice=dice,
        cube_value=2**cube,
        cube_owner=owner * turn,
        score=scores if turn == 1 else (scores[1], scores[0]),
        match_length=length,
        crawford=bool(length and rules),
        jacoby=bool(not length and rules & 1),
        beavers=bool(not length and rules & 2),
        cube_action=action,
        cube_limit=limit,
        turn=turn,
    )


def _letters(upper: NDArray[np.int8], lower: NDArray[np.int8]) -> str:
    letters = ["-"] * 26
    for i in range(25):
        if upper[i]:
            letters[i + 1] = chr(ord("A") + int(upper[i]) - 1)
        if lower[i]:
            letters[24 - i] = chr(ord("a") + int(lower[i]) - 1)
    return "".join(letters)


def to_xgid(position: Position) -> str:
    """The XGID of a position; ``from_xgid`` reads it back unchanged.

    Raises RaccoonError for a board that is none and for any other field that an XGID does not hold.
    """
    board = as_board(position.board, "position")
    value = position.cube_value
    if not isinstance(value, int | np.integer) or value < 1 or int(value) & (int(value) - 1):
        raise RaccoonError(f"position: cube {quoted(value)} is not a power of two")
    if position.turn not in (1, -1):
        raise RaccoonError(f"position: turn {quoted(position.turn)} is neither 1 nor -1")
    if position.cube_action not in ("", *_CUBE_ACTIONS.values()):
        raise RaccoonError(f"position: cube action {quoted(position.cube_action)} is none of {', '.join(_CUBE_ACTIONS.values())}")
    for name, pair in (("dice", position.dice or (1, 1)), ("score", position.score)):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise RaccoonError(f"position: {name} {quoted(pair)} are not two numbers")
    upper, lower = (board[1], board[0]) if position.turn == 1 else (board[0], board[1])
    dice = "00" if position.dice is None else f"{position.dice[0]}{position.dice[1]}"
    if position.cube_action:
        dice = position.cube_action[0].upper()
    score = position.score if position.turn == 1 else position.score[::-1]
    rules = int(position.crawford) if position.match_length else int(position.jacoby) + 2 * int(position.beavers)
    fields = (_letters(upper, lower), int(value).bit_length() - 1, position.cube_owner * position.turn, position.turn, dice)
    text = "XGID=" + ":".join(str(x) for x in (*fields, *score, rules, position.match_length, position.cube_limit))
    from_xgid(text)  # refuses whatever is out of range
    return text

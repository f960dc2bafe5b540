"""Questions about positions, read from Position IDs, XGIDs and GNUBG IDs, and the parts of a player that answer them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, CubeModel, CubeRules, Cubes, Engine, RaccoonError
from raccoon.cube.match_equity_table import LONGEST
from raccoon.cube.state import owner_label
from raccoon.env.board import terminal_points
from raccoon.env.formats.gnubg_id import from_gnubg_id
from raccoon.env.formats.xgid import Position, from_xgid, to_xgid
from raccoon.env.notation import format_turn, parse_turn
from raccoon.env.position_ids import from_position_id, position_id

__all__ = ["Question", "parts_of", "read_dice", "read_line", "read_question"]

_HIGHEST = 20
"""Exponent of the highest cube: what is turned from there in a search still fits 32 bits."""


@dataclass(frozen=True, eq=False)
class Question:
    """A position, the roll to play in it (``position.dice``; None before the roll) and where it came from.

    ``own_cube``: the text gave the cube and the score (else it is centred, in a money game without Jacoby and beavers); ``move``: a
    legal play of the roll whose cost is asked for; ``text`` as it was given, ``line`` its number in a file.
    """

    position: Position
    own_cube: bool = False
    move: str | None = None
    text: str | None = None
    line: int | None = None

    @cached_property
    def cubes(self) -> Cubes:
        """The cube, one row; without rules where the limit 0 leaves it out of the game."""
        found = self.position
        value, owner = np.array([found.cube_value], np.int32), np.array([found.cube_owner], np.int8)
        limit = min(found.cube_limit, _HIGHEST)
        rules = CubeRules(jacoby=found.jacoby, beavers=found.beavers, cap=1 << limit) if limit else None
        if not found.match_length:
            return Cubes(value, owner, rules)
        away = np.array([[found.match_length - points for points in found.score]])
        return Cubes(value, owner, rules, away.astype(np.int16), np.array([found.crawford]))

    def cube(self) -> dict[str, Any]:
        """The cube, its rules and the score as plain values: what tells two questions about one board apart."""
        rules, away = self.cubes.rules, self.cubes.away
        return {
            "value": int(self.cubes.value[0]),
            "owner": owner_label(self.cubes.owner[0]),
            "jacoby": rules is not None and rules.jacoby,
            "beavers": rules is not None and rules.beavers,
            "away": None if away is None else away[0].tolist(),
            "crawford": self.cubes.crawford is not None and bool(self.cubes.crawford[0]),
        }

    def as_record(self) -> dict[str, Any]:
        """What the record of this question begins with."""
        dice = self.position.dice
        return {
            "input": self.text,
            "line": self.line,
            "position": position_id(self.position.board),
            "xgid": to_xgid(self.position),
            "dice": None if dice is None else [int(die) for die in dice],
            "move": self.move,
        }


def parts_of(player: Any) -> tuple[Engine, Any, CubeModel] | None:
    """Engine, search and cube model of a player, which are what ``analyse`` asks; None where it lacks one of them."""
    engine, search, cube = (getattr(player, part, None) for part in ("engine", "search", "cube"))
    return None if engine is None or search is None or cube is None else (engine, search, cube)


def read_dice(value: Any) -> tuple[int, int] | None:
    """Two dice from ``[3, 1]``, ``31``, ``"3 1"`` or ``"3-1"``; None stays None. Raises RaccoonError for anything else."""
    if value is None:
        return None
    text = str(value).strip()
    parts: list[Any] = [*value] if isinstance(value, list | tuple) else [part for part in text if part not in " -,"]
    try:
        numbers = [int(part) for part in parts]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    odd = any(isinstance(part, bool | float) for part in parts) or text.startswith("-")
    if odd or len(numbers) != 2 or not all(1 <= number <= 6 for number in numbers):
        raise RaccoonError(f"dice={quoted(value)}: give two numbers from 1 to 6, such as dice=[3,1]")
    return numbers[0], numbers[1]


def read_line(line: str, number: int, dice: Any = None, move: str | None = None) -> Question | None:
    """The question in line ``number`` of a file, ``ID [DICE[: MOVE]] [# comment]``; None where it is empty.

    ``dice``, ``move``: where the line has none. Raises RaccoonError as ``read_question``.
    """
    words = line.split("#")[0].split(maxsplit=1)
    if not words:
        return None
    own_dice, _, own_move = words[1].partition(":") if len(words) > 1 else ("", "", "")
    return read_question(words[0], own_dice.strip() or dice, own_move.strip() or move, number)


def read_question(text: Any, dice: Any = None, move: Any = None, line: int | None = None) -> Question:
    """The question in a Position ID, an XGID or a GNUBG ID (``PositionID:MatchID``), whose own dice count unless ``dice`` are given.

    Raises RaccoonError naming ``text`` for a bad id, a finished game or a cube and score that cannot be, and for bad dice and a
    ``move`` that is no play of them.
    """
    if not isinstance(text, str):
        raise RaccoonError(
            f"position={quoted(text)}: give a Position ID, an XGID or a GNUBG ID; where it reads as a number, in quotes: position=\"'ID'\""
        )
    given, rolled = text.strip(), read_dice(dice)
    own_cube = "=" in given or ":" in given
    if "=" in given or given.count(":") > 1:
        found = from_xgid(given)
    else:
        found = from_gnubg_id(given) if own_cube else Position(from_position_id(given))
    _check_cube(found, given)
    if terminal_points(found.board[None])[0]:
        raise RaccoonError(f"position {quoted(given)}: the game is over; there is nothing to play")
    if rolled:
        found = replace(found, dice=rolled, cube_action="")
    question = Question(found, own_cube, None, text, line)
    if found.cube_action and not question.cubes.may_double()[0]:
        raise RaccoonError(f"position {quoted(given)}: the side on roll cannot have doubled from this cube and score; write dice 00")
    return replace(question, move=_read_move(found, move))


def _read_move(found: Position, move: Any) -> str | None:
    """The text of a legal play as ``format_turn`` writes it."""
    if move is None:
        return None
    if not isinstance(move, str):
        raise RaccoonError(f"move={quoted(move)}: give a play, such as move='24/21 6/5'")
    if found.dice is None:
        raise RaccoonError(f"move={quoted(move)}: needs the dice that it plays; add dice=[2,1]")
    try:
        child = parse_turn(found.board, found.dice, move)
    except RaccoonError as error:
        raise RaccoonError(f"move={quoted(move)}: {error}") from error
    return format_turn(found.board, child, found.dice)


def _check_cube(found: Position, text: str) -> None:
    """Raise RaccoonError for a cube, a score or an action that reads well and that no question can be asked about."""
    if found.cube_action in ("beaver", "raccoon"):
        raise RaccoonError(f"position {quoted(text)}: a {found.cube_action} waits for an answer; ask about the cube before that (dice 00)")
    if found.cube_value > 1 << _HIGHEST:
        raise RaccoonError(f"position {quoted(text)}: the cube is at 2**{found.cube_value.bit_length() - 1}; 2**{_HIGHEST} is the most")
    if not found.match_length:
        return
    if not found.cube_limit:
        raise RaccoonError(f"position {quoted(text)}: the limit 0 leaves out the cube that match equities count on; write 1 or more")
    away = [found.match_length - points for points in found.score]
    if max(away) > LONGEST:
        raise RaccoonError(f"position {quoted(text)}: {max(away)} points to go; the match equity table ends at {LONGEST}")
    if not found.crawford or found.match_length == 1:
        return
    if sorted(away)[0] != 1 or sorted(away)[1] == 1:
        raise RaccoonError(
            f"position {quoted(text)}: no Crawford game at {away[0]} away against {away[1]} away; write 0 in the Crawford field"
        )
    if found.cube_value != 1 or found.cube_owner != CENTRED:
        raise RaccoonError(f"position {quoted(text)}: the cube has been turned in a Crawford game; write 0 in the Crawford field")

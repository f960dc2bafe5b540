"""Positions by their ids, their legal plays, and what a player thinks of them, as typed records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from raccoon.contracts import Boards, Player, RaccoonError
from raccoon.env.formats.xgid import Position, to_xgid
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import format_turns
from raccoon.env.position_ids import from_position_id

__all__ = ["Analysis", "Candidate", "CubeAction", "Play", "analyse", "legal_plays", "read_position"]


@dataclass(frozen=True, eq=False)
class Play:
    """A legal play: ``move`` as text and ``board int8[2, 25]`` after it, already swapped: the opponent is on roll, in slot 1."""

    move: str
    board: Boards


@dataclass(frozen=True, eq=False)
class Candidate(Play):
    """A play with what a player thinks of it.

    ``equity``: to the mover, in points at a cube of 1 (cubeless), per unit of the cube (money with a cube) or normalised (at a match
    score; ``mwc`` is then the match winning chance, else None). ``difference`` to the best play, 0 or less. ``chances``: the mover's,
    cumulative (wins count gammons), by the names win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon; None where
    nobody knows them. ``ply``: depth behind the equity; ``se``: standard error of a rolled-out equity; ``searched``: to full depth.
    """

    rank: int
    equity: float
    difference: float
    mwc: float | None
    chances: Mapping[str, float] | None
    ply: int | None
    se: float | None
    searched: bool


@dataclass(frozen=True)
class CubeAction:
    """What to do with the cube before the roll: three equities to the side on roll, in the unit of ``Analysis.equity``.

    ``verdict``: double, no double, too good to double (redouble with a turned cube) or no cube action; ``answer``: take, pass or
    beaver, None where nobody may double; ``action``: both in one line. ``mwc``: the three as match winning chances by name.
    """

    no_double: float
    double_take: float
    double_pass: float
    verdict: str
    answer: str | None
    action: str
    mwc: Mapping[str, float] | None


@dataclass(frozen=True)
class Analysis:
    """What the player of that name, with its net or engine as ``source``, thinks of one position.

    With dice: ``plays``, best first. Without: ``plays`` is empty and ``cube_action`` is set where a cube is in play. ``equity``, ``mwc``
    and ``chances`` are those of the best play, or of the position before the roll, to the side on roll. ``notes`` say what was left
    out; ``evaluations`` are static evaluations. ``record`` has all of it as plain values, as ``search.py json=true`` prints it.
    ``print(analysis)`` shows the page that ``search.py`` shows.
    """

    position: Position
    player: str
    source: str
    plays: tuple[Candidate, ...]
    equity: float
    mwc: float | None
    chances: Mapping[str, float] | None
    cube_action: CubeAction | None
    notes: tuple[str, ...]
    evaluations: int
    seconds: float
    record: Mapping[str, Any]

    @property
    def best(self) -> Candidate:
        """The first play. Raises RaccoonError before the roll, where there is none."""
        if not self.plays:
            raise RaccoonError("analysis: the position was valued before the roll; give dice to rank plays")
        return self.plays[0]

    def play(self, move: str) -> Candidate:
        """The play written as ``move`` (any way of writing it). Raises RaccoonError where it is none of this roll."""
        from raccoon.env.notation import parse_turn

        dice = self.position.dice
        if dice is None:
            return self.best
        child = parse_turn(self.position.board, dice, move)
        return next(each for each in self.plays if (each.board == child).all())

    def __str__(self) -> str:
        from raccoon.search.analysis.page import page

        return page(self.position.board, dict(self.record), self.source, True)


def read_position(text: str, dice: Any = None) -> Position:
    """The position in an XGID, a GNUBG ID (``PositionID:MatchID``) or a bare Position ID, seen from the side on roll.

    ``dice`` (``31``, ``"3-1"``, ``[3, 1]``) replace those of the id. A bare Position ID says nothing of a cube: its position is one of a
    cubeless game (``cube_limit`` 0). Raises RaccoonError naming a bad id, bad dice, a finished game, or a cube that cannot be.
    """
    from raccoon.search.analysis.questions import read_question

    question = read_question(text, dice)
    return question.position if question.own_cube else replace(question.position, cube_limit=0)


def legal_plays(position: str | Position, dice: Any = None) -> list[Play]:
    """Every distinct play of the roll, in the fixed order of the move generator; a roll that cannot be played has the one play "dance".

    ``position`` and ``dice`` as in ``read_position``. Raises RaccoonError without dice.
    """
    found = _with_dice(position, dice)
    if found.dice is None:
        raise RaccoonError(f"position {to_xgid(found)}: has no dice; give them, such as dice=31")
    turns = enumerate_turns(found.board[None], np.array([found.dice]))
    return [Play(move, board) for move, board in zip(format_turns(found.board, turns.children, found.dice), turns.children, strict=True)]


def analyse(
    position: str | Position,
    player: str | Mapping[str, Any] | Player = "default",
    *,
    dice: Any = None,
    move: str | None = None,
    search: str = "static",
    cube: str = "janowski",
    overrides: tuple[str, ...] = (),
) -> Analysis:
    """What ``player`` thinks of a position: its plays ranked, or before the roll its equity and the cube action.

    ``position``, ``dice``: as in ``read_position``; the cube and score of the position count where there is a cube in the game.
    ``player``: a name, checkpoint or node (``search``, ``cube`` and ``overrides`` as in ``player_node``), or a loaded player, which has a
    search and a cube model of its own; load it once for many positions. ``move``: a play that is searched as deeply as the best.
    Raises RaccoonError for bad input, and for a player that has no engine and search to ask.
    """
    from raccoon.api.loading import load_player
    from raccoon.search.analysis.answers import analyse as records
    from raccoon.search.analysis.questions import Question, parts_of, read_question

    if isinstance(player, str | Mapping):
        player = load_player(player, search=search, cube=cube, overrides=overrides)
    parts = parts_of(player)
    if parts is None:
        raise RaccoonError(f"player {player.name}: has no engine and search to ask; give one that has, such as default or gnubg0")
    found = _with_dice(position, dice)
    own_cube = found.cube_limit > 0
    if move is not None:
        move = read_question(to_xgid(found), None, move).move
    question = Question(found, own_cube, move, position if isinstance(position, str) else to_xgid(found))
    return _analysis(found, player, next(iter(records([question], *parts, cubeful=None))))


def _with_dice(position: str | Position, dice: Any) -> Position:
    from raccoon.search.analysis.questions import read_dice

    if isinstance(position, str):
        return read_position(position, dice)
    rolled = read_dice(dice)
    return replace(position, dice=rolled, cube_action="") if rolled else position


def _analysis(position: Position, player: Player, record: dict[str, Any]) -> Analysis:
    from raccoon.search.analysis.page import source_of

    rows = record.get("candidates", [])
    shared = ("rank", "equity", "difference", "mwc", "chances", "ply", "se", "searched")
    plays = tuple(Candidate(row["move"], from_position_id(row["position"]), **{key: row[key] for key in shared}) for row in rows)
    top, action = rows[0] if rows else record, record.get("cube_action")
    return Analysis(
        position,
        player.name,
        source_of(player),
        plays,
        top["equity"],
        top["mwc"],
        top["chances"],
        None if action is None else CubeAction(**action),
        tuple(record["notes"]),
        record["evaluations"],
        record["seconds"],
        record,
    )

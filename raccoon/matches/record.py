"""A match or a money session as it was played: games, rolls, plays, cube actions, resignations, results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["LABELS", "Action", "ActionKind", "Fault", "Game", "Match"]

ActionKind = Literal["move", "double", "take", "drop", "beaver", "resign"]
LABELS = ("White", "Black")
"""What reports call player 0 (the left column of match text) and player 1."""


@dataclass(frozen=True)
class Action:
    """What ``player`` (0 or 1) did.

    ``move``: ``dice`` were rolled and ``move`` was played, as ``raccoon.env.format_turn`` writes it; None where the file does not say what
    was played. ``beaver``: a redouble in answer to a double or to a beaver; who neither passes nor beavers it has taken.
    ``resign``: ``points`` go to the other player, cube included; None where the file does not say how many. ``line``: of
    the file, from 1; it is not compared.
    """

    player: int
    kind: ActionKind
    dice: tuple[int, int] | None = None
    move: str | None = None
    points: int | None = None
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Game:
    """``score``: points of both players before the game; ``winner`` None and ``points`` 0 where it has no end. ``crawford``: nobody may
    double in it. Every move in ``actions`` was checked to be legal."""

    score: tuple[int, int]
    actions: tuple[Action, ...]
    winner: int | None = None
    points: int = 0
    crawford: bool = False
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Fault:
    """A line of ``file`` that was left out, and why."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass(frozen=True)
class Match:
    """``length`` points, 0 for a money session, in which ``jacoby`` and ``beavers`` may be played; ``cube``: there is one.

    ``names``: those of the file; nothing prints or writes them unless it is asked to. ``source``: the file; ``faults``: what could not
    be read of it.
    """

    length: int
    games: tuple[Game, ...]
    names: tuple[str, str] = field(default=LABELS, repr=False)
    jacoby: bool = False
    beavers: bool = False
    cube: bool = True
    source: str = field(default="", compare=False)
    faults: tuple[Fault, ...] = field(default=(), compare=False)

    @property
    def score(self) -> tuple[int, int]:
        """Points of both players after the last game."""
        if not self.games:
            return 0, 0
        last = self.games[-1]
        gained = [last.points if last.winner == player else 0 for player in (0, 1)]
        return last.score[0] + gained[0], last.score[1] + gained[1]

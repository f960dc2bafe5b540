"""A game of a file as its actions come: the rules are those of ``raccoon.play.game``; a file may also leave a play or an end open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raccoon.contracts import CENTRED, OWNED, Boards, RaccoonError
from raccoon.env.board import START
from raccoon.env.formats.xgid import Position
from raccoon.env.notation import format_turn, parse_turn
from raccoon.matches.record import Action, Match
from raccoon.play.game import ANSWER, OPENING, ROLL
from raccoon.play.game import Game as Play
from raccoon.play.live import crawford_game

__all__ = ["GameState", "is_crawford"]

_SIDE = ("the left player", "the right player")


def is_crawford(length: int, score: tuple[int, int], played: bool) -> bool:
    """Is the game at this ``score`` of a match the Crawford game? ``played``: it has been already."""
    return length > 1 and bool(crawford_game(np.array(score), length, np.bool_(played)))


class GameState:
    """``play`` is the game; ``rolls`` so far; ``turned``: the cube was, since the last roll. ``unknown``: a play is missing, so that only
    the end of the game can follow. ``winner`` and ``points``: None and 0 until it is over."""

    def __init__(
        self,
        length: int = 0,
        score: tuple[int, int] = (0, 0),
        crawford: bool = False,
        jacoby: bool = False,
        beavers: bool = False,
        cube: bool = True,
    ) -> None:
        money = not length
        limit = Position.cube_limit if cube else 0
        rules = {"jacoby": jacoby and money, "beavers": beavers and money, "cube_limit": limit}
        self.play = Play(Position(START, score=score, match_length=length, crawford=crawford, **rules), opening=True)
        self.rolls = 0
        self.turned = self.unknown = False
        self._beavered: int | None = None
        self.winner: int | None = None
        self.points = 0

    @classmethod
    def of(cls, match: Match, index: int) -> GameState:
        """The start of game ``index`` of a match."""
        game = match.games[index]
        return cls(match.length, game.score, game.crawford, match.jacoby, match.beavers, match.cube)

    @property
    def over(self) -> bool:
        """Has somebody won?"""
        return self.winner is not None

    @property
    def position(self) -> Position:
        """The position before the roll, from the side on roll (before the opening roll: player 0)."""
        return self.play.position

    @property
    def board(self) -> Boards:
        """``int8[2, 25]``: the board of ``position``."""
        return self.play.position.board

    @property
    def mover(self) -> int | None:
        """The player on roll, 0 or 1; None before the opening roll says who begins."""
        return None if self.play.stage == OPENING else self.play.on_roll - 1

    @property
    def offered(self) -> bool:
        """Does a double wait for an answer?"""
        return not self.over and self.play.stage == ANSWER

    @property
    def cube(self) -> int:
        """Its value."""
        return self.play.position.cube_value

    @property
    def owner(self) -> int | None:
        """The player who owns the cube; None: centred."""
        place = self.play.position.cube_owner
        return None if place == CENTRED else self.play.on_roll - 1 if place == OWNED else 2 - self.play.on_roll

    @property
    def may_double(self) -> bool:
        """May the side on roll double now?"""
        if self.over or self.unknown or self.turned or self.play.stage != ROLL:
            return False
        return bool(self.play.cubes.may_double()[0])

    def rolled(self, player: int, dice: tuple[int, int]) -> Play:
        """The game after ``player`` rolled. Raises RaccoonError where it is not its turn to roll."""
        if self.play.stage == OPENING:
            high, low = sorted(dice, reverse=True)
            rolled = self.play.roll(high, low) if player == 0 else self.play.roll(low, high)
            return replace(rolled, position=replace(rolled.position, dice=dice))
        return self.play.roll(*dice)

    def apply(self, action: Action) -> Action:
        """Do it; the action as it is kept, its move written in full. Raises RaccoonError with the reason where it is not possible."""
        if self.over:
            raise RaccoonError("the game is over already")
        if action.kind == "resign":
            return self._resign(action)
        if self.unknown:
            raise RaccoonError("the play before it is missing, so the position is not known")
        if action.player == self._beavered and action.kind in ("take", "drop", "beaver"):
            return self._answer_beaver(action)
        wanted = self.play.decides - 1
        if wanted >= 0 and action.player != wanted and (action.kind in ("take", "drop", "beaver")) == self.offered:
            raise RaccoonError(f"it is the turn of {_SIDE[wanted]}")
        return self._move(action) if action.kind == "move" else self._cube(action)

    def _cube(self, action: Action) -> Action:
        if action.kind == "double" and self.turned:
            raise RaccoonError("the cube was turned already; a roll comes next")
        self.play = {"double": self.play.double, "take": self.play.take, "drop": self.play.drop, "beaver": self.play.beaver}[action.kind]()
        self.turned = action.kind in ("take", "beaver")
        self._beavered = self.mover if action.kind == "beaver" else None
        self._settle()
        return action

    def _answer_beaver(self, action: Action) -> Action:
        """Who was beavered takes, which a roll says as well, passes at the cube before it, or beavers again, as often as both like."""
        beavered, self._beavered = action.player, None
        if action.kind == "drop":
            self.winner, self.points = 1 - beavered, self.cube // 2
        elif action.kind == "beaver":
            self.play = replace(self.play, position=replace(self.play.position, cube_value=2 * self.cube))
            self._beavered = 1 - beavered
        return action

    def _resign(self, action: Action) -> Action:
        points = self.cube if action.points is None else action.points
        if points < 1:
            raise RaccoonError(f"a resignation of {points} points")
        self.winner, self.points = 1 - action.player, points
        return replace(action, points=points)

    def _move(self, action: Action) -> Action:
        if action.dice is None:
            self.unknown = True
            return action
        rolled = self.rolled(action.player, action.dice)
        child = self._child(rolled, action.move)
        self.rolls += 1
        self.turned, self._beavered = False, None
        if child is None:
            self.unknown = True
            return action
        text = format_turn(rolled.position.board, child, action.dice)
        self.play = rolled.play(text)
        self._settle()
        return replace(action, move=text)

    def _child(self, rolled: Play, move: str | None) -> Boards | None:
        """The board after the play; None where nobody knows which of several it was."""
        if move is not None:
            return parse_turn(rolled.position.board, np.array(rolled.position.dice), move)
        children = rolled.turns.children
        return children[0] if len(children) == 1 else None

    def _settle(self) -> None:
        """Who won, where the rules say that the game is over."""
        if self.play.won:
            self.winner, self.points = int(self.play.won < 0), abs(self.play.won)

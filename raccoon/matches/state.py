"""One game as it is played: takes actions, refuses what the rules do not allow, and says where the game stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, RaccoonError
from raccoon.env.board import START, terminal_points
from raccoon.env.formats.xgid import Position
from raccoon.env.movegen import afterstates
from raccoon.env.notation import format_turn, parse_turn
from raccoon.matches.record import Action, Match
from raccoon.search.analysis.questions import Question

__all__ = ["GameState", "is_crawford"]

_SIDE = ("the left player", "the right player")


def is_crawford(length: int, score: tuple[int, int], played: bool) -> bool:
    """Is the game at this ``score`` of a match the Crawford game? ``played``: it has been already."""
    return length > 1 and not played and max(score) == length - 1


class GameState:
    """``board int8[2, 25]`` with player ``mover`` on roll in slot 1 (None before the opening roll says who begins); the cube at ``cube``,
    of player ``owner`` (None: centred). ``offered``: a double waits for an answer. ``winner``, ``points``: once it is over.
    ``unknown``: a play is missing, so that only the end of the game can follow.
    """

    def __init__(
        self,
        length: int = 0,
        score: tuple[int, int] = (0, 0),
        crawford: bool = False,
        jacoby: bool = False,
        beavers: bool = False,
        cube: bool = True,
    ) -> None:
        self._limit = Position.cube_limit if cube else 0
        self.length, self.score, self.crawford, self.jacoby, self.beavers = length, score, crawford, jacoby, beavers
        self.board: Boards = START.copy()
        self.mover: int | None = None
        self.cube, self.rolls = 1, 0
        self.owner: int | None = None
        self.offered = self.turned = self.unknown = self._beavered = False
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

    def position(self, dice: tuple[int, int] | None = None) -> Position:
        """The position from the side on roll (before the opening roll: player 0), with its cube and score."""
        mover = self.mover or 0
        owner = CENTRED if self.owner is None else OWNED if self.owner == mover else OPPONENT
        return Position(
            board=self.board,
            dice=dice,
            cube_value=self.cube,
            cube_owner=owner,
            score=(self.score[mover], self.score[1 - mover]),
            match_length=self.length,
            crawford=self.crawford or self.length == 1,
            jacoby=self.jacoby and not self.length,
            beavers=self.beavers and not self.length,
            cube_limit=self._limit,
            turn=1 if mover == 0 else -1,
        )

    @property
    def may_double(self) -> bool:
        """May the side on roll double now?"""
        if self.mover is None or not self.rolls or self.turned or self.over or self.unknown:
            return False
        return bool(Question(self.position(), True).cubes.may_double()[0])

    def apply(self, action: Action) -> Action:
        """Do it; the action as it is kept, its move written in full. Raises RaccoonError with the reason where it is not possible."""
        if self.over:
            raise RaccoonError("the game is over already")
        if action.kind == "resign":
            return self._resign(action)
        if self.unknown:
            raise RaccoonError("the play before it is missing, so the position is not known")
        if self._beavered and action.kind == "take" and action.player == self.mover:  # the doubler plays on
            self._beavered = False
            return action
        self._check_turn(action)
        done: Action = getattr(self, f"_{action.kind}")(action)
        return done

    def _check_turn(self, action: Action) -> None:
        answers = action.kind in ("take", "drop", "beaver")
        if answers != self.offered:
            raise RaccoonError("there is no double to answer" if answers else "a double waits for an answer")
        if self.mover is None:
            return
        wanted = 1 - self.mover if answers else self.mover
        if action.player != wanted:
            raise RaccoonError(f"it is the turn of {_SIDE[wanted]}")

    def _double(self, action: Action) -> Action:
        if not self.may_double:
            raise RaccoonError("there can be no double from this cube and score")
        self.offered = True
        return action

    def _take(self, action: Action) -> Action:
        self._turn(action, 2)
        return action

    def _beaver(self, action: Action) -> Action:
        if not Question(self.position(), True).cubes.may_beaver()[0]:
            raise RaccoonError("there are no beavers under these rules")
        self._turn(action, 4)
        self._beavered = True
        return action

    def _turn(self, action: Action, factor: int) -> None:
        self.cube, self.owner = self.cube * factor, action.player
        self.offered, self.turned = False, True

    def _drop(self, action: Action) -> Action:
        self.winner, self.points = 1 - action.player, self.cube
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
        if not self.rolls and action.dice[0] == action.dice[1]:
            raise RaccoonError(f"an opening roll of {action.dice[0]}-{action.dice[1]}; doubles are rolled again")
        child = self._child(action)
        if child is None:
            self.unknown, self.mover, self.rolls = True, action.player, self.rolls + 1
            return action
        text = format_turn(self.board, child, action.dice)
        self.board, self.mover, self.rolls, self.turned, self._beavered = child, 1 - action.player, self.rolls + 1, False, False
        won = -int(terminal_points(child[None])[0])
        if won:
            single = self.jacoby and not self.length and self.owner is None
            self.winner, self.points = action.player, self.cube * (1 if single else won)
        return replace(action, move=text)

    def _child(self, action: Action) -> Boards | None:
        """The board after the play; None where nobody knows which of several it was."""
        assert action.dice is not None
        if action.move is not None:
            return parse_turn(self.board, action.dice, action.move)
        children = afterstates(self.board[None], np.array([action.dice]))[0]
        return children[0] if len(children) == 1 else None

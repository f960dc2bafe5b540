"""A match as it is being played: the game that is under way, action by action, and the record of everything so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from raccoon.contracts import RaccoonError
from raccoon.cube.match_equity_table import check_length
from raccoon.env.board import START
from raccoon.env.formats.xgid import Position
from raccoon.env.notation import format_turn, parse_turn
from raccoon.matches import record
from raccoon.matches.record import LABELS, Action, Match
from raccoon.play import dice
from raccoon.play.game import ANSWER, OPENING, Game

__all__ = ["PlayedMatch"]


@dataclass(frozen=True)
class PlayedMatch:
    """A match or a money session. Every action gives a new one; a refused one raises RaccoonError and changes nothing.

    ``game``: the one under way, or over; ``actions`` of it so far; ``done``: the games before it, the first of which began at
    ``first_score``. Player 0 of the record is player 1 of ``game``. ``names``: of both players, for the record.
    """

    game: Game
    actions: tuple[Action, ...] = ()
    done: tuple[record.Game, ...] = ()
    names: tuple[str, str] = LABELS
    first_score: tuple[int, int] = (0, 0)

    @classmethod
    def new(cls, length: int = 0, jacoby: bool = False, beavers: bool = False) -> PlayedMatch:
        """A match to ``length`` points, 0: a money session. Raises RaccoonError beyond the match equity table."""
        return cls(Game.match(length) if length else Game.money(jacoby, beavers))

    @classmethod
    def resume(cls, match: Match) -> PlayedMatch:
        """Where a match was left. Raises RaccoonError naming its file where that is not known."""
        where = match.source or "match"
        if not match.games:
            raise RaccoonError(f"{where}: holds no games")
        if match.length:
            check_length(match.length, "match")
        *done, last = match.games
        unfinished = next((number for number, game in enumerate(done, start=1) if game.winner is None), None)
        if unfinished is not None:
            raise RaccoonError(f"{where}: game {unfinished} has no end, so it is not known how the match goes on")
        played = cls(_beginning(match, last), (), tuple(done), match.names, match.games[0].score)
        if last.winner is not None:
            over = replace(played.game, won=last.points if last.winner == 0 else -last.points)
            return replace(played, game=over, actions=last.actions)
        try:
            for action in last.actions:
                played = played._again(action)
        except RaccoonError as error:
            raise RaccoonError(f"{where}: the last game cannot go on: {error}") from error
        return played

    @property
    def number(self) -> int:
        """Of the game under way, from 0."""
        return len(self.done)

    @property
    def score(self) -> tuple[int, int]:
        """Points of both players, the last game's included once it is over; in money play since the first game."""
        return self.record.score

    @property
    def record(self) -> Match:
        """Everything so far. A game that has not begun is left out, unless it is the first."""
        position, games = self.game.position, self.done
        if self.actions or not games:
            games = (*games, self._current())
        return Match(position.match_length, games, self.names, position.jacoby, position.beavers)

    def next_dice(self, seed: int) -> tuple[int, int]:
        """The dice that ``seed`` rolls now: those of match 0 of the match runner. Of the opening roll, player 1's die first."""
        index = dice.stream(np.array([0]), np.array([self.number]))
        if self.game.stage == OPENING:
            seats, both = dice.opening(seed, index)
            low, high = (int(die) for die in both[0])
            return (high, low) if seats[0] == 0 else (low, high)
        roll = sum(action.kind == "move" for action in self.actions)
        first, second = (int(die) for die in dice.rolls(seed, index, np.array([roll]))[0])
        return first, second

    def roll(self, first: int, second: int) -> PlayedMatch:
        """See ``Game.roll``."""
        return replace(self, game=self.game.roll(first, second))

    def play(self, text: str) -> PlayedMatch:
        """See ``Game.play``."""
        after, position = self.game.play(text), self.game.position
        assert position.dice is not None
        move = format_turn(position.board, parse_turn(position.board, position.dice, text), position.dice)
        high, low = max(position.dice), min(position.dice)
        return self._after(after, Action(self._decides, "move", (high, low), move))

    def double(self) -> PlayedMatch:
        """See ``Game.double``."""
        return self._after(self.game.double(), Action(self._decides, "double"))

    def take(self) -> PlayedMatch:
        """See ``Game.take``."""
        return self._after(self.game.take(), Action(self._decides, "take"))

    def beaver(self) -> PlayedMatch:
        """See ``Game.beaver``."""
        return self._after(self.game.beaver(), Action(self._decides, "beaver"))

    def drop(self) -> PlayedMatch:
        """See ``Game.drop``."""
        return self._after(self.game.drop(), Action(self._decides, "drop"))

    def resign(self, size: int) -> PlayedMatch:
        """See ``Game.resign``; instead of an answer to a double, a single game is a pass."""
        after = self.game.resign(size)
        if self.game.stage == ANSWER and abs(after.won) == self.game.position.cube_value:
            return self.drop()
        return self._after(after, Action(self._decides, "resign", points=abs(after.won)))

    def next(self) -> PlayedMatch:
        """See ``Game.next``."""
        return replace(self, game=self.game.next(), actions=(), done=(*self.done, self._current()))

    @property
    def _decides(self) -> int:
        return self.game.decides - 1

    def _after(self, game: Game, action: Action) -> PlayedMatch:
        return replace(self, game=game, actions=(*self.actions, action))

    def _current(self) -> record.Game:
        won, position = self.game.won, self.game.position
        score = Match(position.match_length, self.done).score if self.done else self.first_score
        winner = None if not won else 0 if won > 0 else 1
        return record.Game(score, self.actions, winner, abs(won), bool(position.match_length > 1 and position.crawford))

    def _again(self, action: Action) -> PlayedMatch:
        """After one more action of a record."""
        if action.kind == "move":
            if action.dice is None or action.move is None:
                raise RaccoonError("a play is not known")
            high, low = max(action.dice), min(action.dice)
            opened = self.game.stage == OPENING and action.player == 1
            return self.roll(*((low, high) if opened else (high, low))).play(action.move)
        if action.kind == "take" and self.game.stage != ANSWER:  # after a beaver the doubler plays on
            return self
        after: PlayedMatch = getattr(self, action.kind)()
        return after


def _beginning(match: Match, last: record.Game) -> Game:
    """The last game of a match before its opening roll."""
    if not match.length:
        return Game.money(match.jacoby, match.beavers)
    late = match.length > 1 and max(last.score) == match.length - 1
    position = Position(START, match_length=match.length, score=last.score, crawford=last.crawford)
    return Game(position, match.length == 1 or (late and not last.crawford), opening=True)

"""One money game or match as it is played action by action: what the next action may be, and what it leads to.

For programs that follow a game at the pace of their user. Many games at a time are the match runner's (``raccoon.play.match``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, OPPONENT, BeaverPlayer, Cubes, Player, RaccoonError, Turns
from raccoon.cube.match_equity_table import check_length
from raccoon.env.board import START, terminal_points
from raccoon.env.formats.xgid import Position
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import format_turn, format_turns, parse_turn
from raccoon.play.live import crawford_game
from raccoon.search.analysis.questions import Question

__all__ = ["ANSWER", "OPENING", "OVER", "PLAY", "ROLL", "STAGES", "STEPS", "Game", "alone"]

STAGES = OPENING, ROLL, PLAY, ANSWER, OVER = "opening", "roll", "play", "answer", "over"
"""What a game waits for: the opening roll, a double or a roll, a play, the answer to a double, nothing more."""


@dataclass(frozen=True)
class Game:
    """A game between players 1 and 2, of a match unless ``position.match_length`` is 0. Every action gives a new ``Game``.

    ``position``: the board, the cube, the score before this game and the rules, seen from the side on roll; player 1 is on roll where
    its ``turn`` is 1, player 2 where it is -1. A side that has doubled is still on roll. ``crawford_played``: the Crawford game was an
    earlier one. ``won``: points to player 1 (minus: to player 2) once the game is over, the cube included.

    Actions raise RaccoonError where the game does not wait for them.
    """

    position: Position
    crawford_played: bool = False
    opening: bool = False
    won: int = field(default=0, kw_only=True)

    @classmethod
    def money(cls, jacoby: bool = False, beavers: bool = False, cube: bool = True) -> Game:
        """A money game that waits for its opening roll; ``cube``: with one in play."""
        limit = Position.cube_limit if cube else 0
        return cls(Position(START, jacoby=jacoby, beavers=beavers, cube_limit=limit), opening=True)

    @classmethod
    def match(cls, length: int) -> Game:
        """The first game of a match to ``length`` points. Raises RaccoonError where the match equity table ends before."""
        check_length(length, "match")
        return cls(Position(START, match_length=length), crawford_played=length == 1, opening=True)

    @classmethod
    def at(cls, position: Position) -> Game:
        """A game that goes on from ``position`` (one that ``read_question`` takes). At 1 away outside a Crawford game that one is over."""
        length = position.match_length
        return cls(position, bool(length) and not position.crawford and max(position.score) == length - 1)

    @property
    def stage(self) -> str:
        """One of ``STAGES``."""
        if self.won:
            return OVER
        if self.opening:
            return OPENING
        if self.position.cube_action:
            return ANSWER
        return ROLL if self.position.dice is None else PLAY

    @property
    def on_roll(self) -> int:
        """The player on roll, 1 or 2."""
        return 1 if self.position.turn == 1 else 2

    @property
    def decides(self) -> int:
        """The player whose action is next; 0 before the opening roll and after the end."""
        if self.stage in (OPENING, OVER):
            return 0
        return 3 - self.on_roll if self.stage == ANSWER else self.on_roll

    @property
    def score(self) -> tuple[int, int]:
        """Points of players 1 and 2 in the match, this game's included once it is over. 0-0 in money play."""
        one, two = self.position.score[:: self.position.turn]
        return (one + max(self.won, 0), two + max(-self.won, 0)) if self.position.match_length else (one, two)

    @property
    def match_over(self) -> bool:
        """Whether no further game follows: one side has the points it needs. Money games go on for ever."""
        return bool(self.position.match_length) and max(self.score) >= self.position.match_length

    @property
    def cubes(self) -> Cubes:
        """The cube and the score, one row, seen from the side on roll."""
        return Question(self.position).cubes

    @cached_property
    def turns(self) -> Turns:
        """The legal plays, one row. Raises RaccoonError where no play is waited for."""
        self._waits(PLAY, "a play")
        return enumerate_turns(self.position.board[None], np.array([self.position.dice]), self.cubes)

    def legal(self) -> list[str]:
        """Every action that may be next, as a word or ``play MOVE``; ``roll`` stands for any dice. A resignation is always possible."""
        if self.stage == PLAY:
            moves = format_turns(self.position.board, self.turns.children, np.array(self.position.dice))
            return [f"play {move}" for move in moves]
        if self.stage == ROLL:
            return ["roll", "double"] if self.cubes.may_double()[0] else ["roll"]
        if self.stage == ANSWER:
            return ["take", "pass", "beaver"] if self.cubes.may_beaver()[0] else ["take", "pass"]
        return ["roll"] if self.stage == OPENING else [] if self.match_over else ["next"]

    def roll(self, first: int, second: int) -> Game:
        """The dice. The opening roll has a die of player 1 and one of player 2, the higher one begins; equal ones are refused."""
        if self.stage == OPENING:
            if first == second:
                raise RaccoonError(f"roll {first} {second}: equal dice open no game; roll again")
            on_roll = 1 if first > second else -1
            return Game(self._seen_from(on_roll, dice=(first, second)), self.crawford_played)
        self._waits(ROLL, "a roll")
        return self._after(dice=(first, second))

    def play(self, text: str) -> Game:
        """The play that ``text`` means (see ``raccoon.env.notation.parse_turn``)."""
        self._waits(PLAY, "a play")
        assert self.position.dice is not None
        child = parse_turn(self.position.board, self.position.dice, text)
        size = -int(terminal_points(child[None])[0])
        if size:
            return self._ended(size)
        return self._after(**_swapped(self.position), board=child, dice=None)

    def double(self) -> Game:
        """Offer the cube at twice its value."""
        self._waits(ROLL, "a double")
        if not self.cubes.may_double()[0]:
            raise RaccoonError(f"double: player {self.on_roll} may not double from this cube and score")
        return self._after(cube_action="double")

    def take(self) -> Game:
        """Play on with the cube at twice its value; whoever takes owns it."""
        self._waits(ANSWER, "an answer to a double")
        return self._after(cube_action="", cube_value=2 * self.position.cube_value, cube_owner=OPPONENT)

    def beaver(self) -> Game:
        """Take, redouble at once and keep the cube."""
        self._waits(ANSWER, "an answer to a double")
        if not self.cubes.may_beaver()[0]:
            raise RaccoonError("beaver: these rules or this cube allow none; answer take or pass")
        return self._after(cube_action="", cube_value=4 * self.position.cube_value, cube_owner=OPPONENT)

    def drop(self) -> Game:
        """Pass a double: the doubler wins what the cube shows."""
        self._waits(ANSWER, "an answer to a double")
        return replace(self, won=self.position.cube_value * self.position.turn)

    def resign(self, size: int) -> Game:
        """The player whose action is next loses ``size`` times the cube (1 plain, 2 gammon, 3 backgammon); the other side agrees."""
        if not self.decides:
            raise RaccoonError(f"resign: {self._waiting()}")
        return self._ended(size if self.decides != self.on_roll else -size)

    def next(self) -> Game:
        """The next game: of the match, or another money game under the same rules."""
        if self.match_over:
            raise RaccoonError("next: the match is over; begin a new one")
        self._waits(OVER, "the end of the game")
        old = self.position
        length, past = old.match_length, self.crawford_played or old.crawford
        crawford = bool(length) and bool(crawford_game(np.array(self.score), length, np.bool_(past)))
        fresh = replace(old, board=START, dice=None, cube_value=1, cube_owner=CENTRED, cube_action="", turn=1)
        return Game(replace(fresh, score=self.score, crawford=crawford), past, opening=True)

    def decide(self, player: Player) -> str:
        """What ``player`` does next, in the words of ``legal``. Raises RaccoonError where nobody has to act."""
        boards, cubes = self.position.board[None], self.cubes
        if self.stage == PLAY:
            chosen = int(player.choose(self.turns)[0])
            assert self.position.dice is not None
            return f"play {format_turn(self.position.board, self.turns.children[chosen], self.position.dice)}"
        if self.stage == ROLL:
            return "double" if cubes.may_double()[0] and player.double(boards, cubes)[0] else "roll"
        if self.stage != ANSWER:
            raise RaccoonError(self._waiting())
        if not player.take(boards, cubes)[0]:
            return "pass"
        beavers = isinstance(player, BeaverPlayer) and cubes.may_beaver()[0] and player.beaver(boards, cubes)[0]
        return "beaver" if beavers else "take"

    def _after(self, **changes: object) -> Game:
        return Game(replace(self.position, **changes), self.crawford_played)

    def _seen_from(self, turn: int, **changes: object) -> Position:
        """The position with the player of ``turn`` on roll."""
        seen = self.position if turn == self.position.turn else replace(self.position, **_swapped(self.position))
        return replace(seen, **changes)

    def _ended(self, size: int) -> Game:
        """The side on roll wins ``size`` times the cube (minus: loses)."""
        points = int(self.cubes.game_points(np.array([size]))[0])
        return replace(self, won=points * self.position.cube_value * self.position.turn)

    def _waits(self, stage: str, what: str) -> None:
        if self.stage != stage:
            raise RaccoonError(f"not the time for {what}: {self._waiting()}")

    def _waiting(self) -> str:
        told = {
            OPENING: "the game waits for its opening roll",
            ROLL: f"player {self.decides} is to roll or double",
            PLAY: f"player {self.decides} is to play {self.position.dice}",
            ANSWER: f"player {self.decides} is to answer a double",
            OVER: "the match is over" if self.match_over else "the game is over",
        }
        return told[self.stage]


STEPS: dict[str, Callable[[Game], Game]] = {
    "double": Game.double,
    "take": Game.take,
    "pass": Game.drop,
    "beaver": Game.beaver,
    "next": Game.next,
}
"""The words of ``Game.legal`` that say all that there is to say of an action, and the action."""


def alone(word: str, rest: str) -> None:
    """Raise RaccoonError where ``rest`` follows a ``word`` that stands alone."""
    if rest:
        raise RaccoonError(f"{word} {quoted(rest)}: write {word} alone")


def _swapped(position: Position) -> dict[str, object]:
    """What changes with the side on roll, but for the board."""
    return {"turn": -position.turn, "score": position.score[::-1], "cube_owner": -position.cube_owner}

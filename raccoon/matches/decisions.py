"""The decisions of a match in their order, as questions that an analysis answers: plays, and the cube before every roll."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from raccoon.env.formats.xgid import Position, to_xgid
from raccoon.env.movegen import afterstates
from raccoon.matches.record import Action, Match
from raccoon.matches.state import GameState
from raccoon.search.analysis.questions import Question

__all__ = ["Decision", "each_decision"]

_ANSWERS = {"take": "take", "drop": "pass", "beaver": "beaver"}


@dataclass(frozen=True, eq=False)
class Decision:
    """What ``player`` decided in ``position`` (with dice: a play; without: the cube). ``game`` and ``number`` (of the roll) count from 1.

    ``done``: the play, ``double`` or ``no double``, None where the file does not tell; ``answer``: what the other player did with
    a double (take, pass, beaver), else None. ``opening``: the roll decided who begins.
    """

    game: int
    number: int
    player: int
    position: Position
    done: str | None
    answer: str | None = None
    opening: bool = False
    line: int | None = None

    @property
    def kind(self) -> str:
        """``play`` or ``cube``."""
        return "cube" if self.position.dice is None else "play"

    @cached_property
    def forced(self) -> bool:
        """A play without an alternative."""
        dice = self.position.dice
        return dice is not None and len(afterstates(self.position.board[None], np.array([dice]))[0]) == 1

    @property
    def question(self) -> Question:
        """What is asked about it."""
        return Question(self.position, True, self.done if self.kind == "play" else None, line=self.line)

    def named(self) -> dict[str, object]:
        """What tells it apart in a file of records."""
        return {
            "game": self.game,
            "number": self.number,
            "player": self.player,
            "kind": self.kind,
            "xgid": to_xgid(self.position),
            "done": self.done,
            "answer": self.answer,
            "line": self.line,
        }


def each_decision(match: Match) -> Iterator[Decision]:
    """Every play of the match, and the cube wherever a player on roll might have doubled."""
    for index, game in enumerate(match.games):
        state = GameState.of(match, index)
        for at, action in enumerate(game.actions):
            following = game.actions[at + 1] if at + 1 < len(game.actions) else None
            yield from _of(state, action, following, index + 1)
            state.apply(action)


def _of(state: GameState, action: Action, following: Action | None, game: int) -> Iterator[Decision]:
    if action.kind not in ("move", "double") or (action.kind == "move" and action.dice is None):
        return
    if action.kind == "double" or (state.may_double):
        answer = None if action.kind == "move" or following is None else _ANSWERS.get(following.kind)
        done = "no double" if action.kind == "move" else "double"
        yield Decision(game, state.rolls + 1, action.player, state.position, done, answer, line=action.line)
    if action.kind == "move":
        assert action.dice is not None
        position = state.rolled(action.player, action.dice).position
        yield Decision(game, state.rolls + 1, action.player, position, action.move, None, state.rolls == 0, action.line)

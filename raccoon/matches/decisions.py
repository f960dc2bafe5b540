"""The decisions of a match in their order, as questions that an analysis answers: plays, and the cube before every roll."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    a double (take, pass, beaver), else None. ``replies``: what both did with a beaver in turn (take, pass, beaver), the doubler first.
    ``opening``: the roll decided who begins.
    """

    game: int
    number: int
    player: int
    position: Position
    done: str | None
    answer: str | None = None
    opening: bool = False
    line: int | None = None
    replies: tuple[str, ...] = ()

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
        """What tells it apart in a file of records; ``replies`` where there are any."""
        replies = {"replies": list(self.replies)} if self.replies else {}
        return {
            "game": self.game,
            "number": self.number,
            "player": self.player,
            "kind": self.kind,
            "xgid": to_xgid(self.position),
            "done": self.done,
            "answer": self.answer,
            "line": self.line,
            **replies,
        }


def each_decision(match: Match) -> Iterator[Decision]:
    """Every play of the match, and the cube wherever a player on roll might have doubled."""
    for index, game in enumerate(match.games):
        state = GameState.of(match, index)
        for at, action in enumerate(game.actions):
            yield from _of(state, action, game.actions[at + 1 :], index + 1)
            state.apply(action)


def _of(state: GameState, action: Action, following: Sequence[Action], game: int) -> Iterator[Decision]:
    if action.kind not in ("move", "double") or (action.kind == "move" and action.dice is None):
        return
    if action.kind == "double" or state.may_double:
        answers = () if action.kind == "move" else _answers(following)
        done = "no double" if action.kind == "move" else "double"
        answer = answers[0] if answers else None
        yield Decision(game, state.rolls + 1, action.player, state.position, done, answer, line=action.line, replies=answers[1:])
    if action.kind == "move":
        assert action.dice is not None
        position = state.rolled(action.player, action.dice).position
        yield Decision(game, state.rolls + 1, action.player, position, action.move, None, state.rolls == 0, action.line)


def _answers(following: Sequence[Action]) -> tuple[str, ...]:
    """The answer to a double and, where it is a beaver, what came of that: a roll says that it was taken."""
    found: list[str] = []
    for action in following:
        answer = "take" if found and action.kind == "move" else _ANSWERS.get(action.kind)
        if answer is None:
            break
        found.append(answer)
        if answer != "beaver":
            break
    return tuple(found)

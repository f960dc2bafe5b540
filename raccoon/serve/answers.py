"""What the page asks, answered with plain values: boards, analyses, the actions of a game."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError, Search
from raccoon.env.formats.xgid import Position, from_xgid, to_xgid
from raccoon.env.position_ids import position_id
from raccoon.matches.record import LABELS
from raccoon.matches.svg import board_svg
from raccoon.play.game import OPENING, ROLL, STEPS, Game, alone
from raccoon.play.resignation import accepts
from raccoon.search.analysis.answers import analyse
from raccoon.search.analysis.questions import Question, read_question
from raccoon.serve import fields
from raccoon.serve.opened import OpenedMatches

__all__ = ["Answers"]

Body = Mapping[str, Any]
_MOST_WON = 3 << 20
_NAMES = ("You", "Raccoon")


class Answers:
    """``player`` (with ``engine``, ``search`` and ``cube``) answers; ``depths``: searches by the name under which the page offers them;
    ``generator`` rolls the dice. Every method raises RaccoonError for a message that it cannot answer."""

    def __init__(self, player: Any, depths: Mapping[str, Search], generator: np.random.Generator) -> None:
        self.player, self.generator = player, generator
        self._judges = {name: _with_search(player, search) for name, search in depths.items()}
        self.matches = OpenedMatches(self._judge)

    def about(self, _: Body) -> dict[str, Any]:
        """Who answers, at which depths."""
        return {"player": self.player.name, "depths": [{"key": name, "name": one.search.name} for name, one in self._judges.items()]}

    def board(self, body: Body) -> dict[str, Any]:
        """The position of ``id`` (with ``dice``) drawn, ``move`` as arrows; ``fixed``: player 0, not the side on roll, below. ``setup``: an
        XGID on the way to a position, which need not be one yet; ``problem`` says why not."""
        if fields.flag(body, "setup"):
            return _sketch(fields.text(body, "id"))
        question = _question(body)
        return _board(question.position, question.move, bottom=0 if fields.flag(body, "fixed") else None)

    def analysis(self, body: Body) -> dict[str, Any]:
        """The record of the position of ``id`` at ``depth`` (see ``raccoon.search.analysis.answers.analyse``), and its board."""
        question, (_, judge) = _question(body), self._judge(body)
        record = next(iter(analyse([question], judge.engine, judge.search, judge.cube, None)))
        return _board(question.position, question.move) | {"analysis": record}

    def game(self, body: Body) -> dict[str, Any]:
        """The game of ``game`` after ``action``: as in ``Game.legal``, or ``new money``, ``new match LENGTH``."""
        action = fields.text(body, "action")
        name, _, rest = action.partition(" ")
        return _shown(_new(rest) if name == "new" else self._after(_game(body), action))

    def go(self, body: Body) -> dict[str, Any]:
        """The game of ``game`` after the player's action, which is ``did``."""
        game = _game(body)
        action = game.decide(self.player)
        return _shown(self._after(game, action)) | {"did": action}

    def resign(self, body: Body) -> dict[str, Any]:
        """The game of ``game`` after the user resigned ``size`` times the cube, where the player agrees; else ``agreed`` is false."""
        game, size = _game(body), fields.integer(body, "size", 1, 3)
        if game.decides == 2:
            raise RaccoonError("resign: the player decides next; wait for it")
        return _shown(game.resign(size)) | {"agreed": True} if accepts(game, size, self.player) else {"agreed": False}

    def _after(self, game: Game, action: str) -> Game:
        name, _, rest = action.partition(" ")
        act = _ACTIONS.get(name)
        if act is None:
            raise RaccoonError(f"action {quoted(name)}: there are new, {', '.join(_ACTIONS)}")
        return act(game, rest, self.generator)

    def _judge(self, body: Body) -> tuple[str, Any]:
        """The depth that a message asks for, the first one where it does not say, and the player at that depth."""
        name = fields.text(body, "depth", next(iter(self._judges)))
        if name not in self._judges:
            raise RaccoonError(f"depth {quoted(name)}: choose {', '.join(self._judges)}")
        return name, self._judges[name]


def _with_search(player: Any, search: Search) -> Any:
    judge = copy.copy(player)
    judge.search = search
    return judge


def _question(body: Body) -> Question:
    return read_question(fields.text(body, "id"), fields.text(body, "dice", "") or None, fields.text(body, "move", "") or None)


def _board(position: Position, move: str | None = None, bottom: int | None = None, names: tuple[str, str] = LABELS) -> dict[str, Any]:
    return {
        "xgid": to_xgid(position),
        "position": position_id(position.board),
        "dice": None if position.dice is None else [int(die) for die in position.dice],
        "svg": board_svg(position, bottom, move, names),
    }


def _sketch(text: str) -> dict[str, Any]:
    """The board of an XGID that need not be a position: a side may have no checkers."""
    position, problem = from_xgid(text, empty=True), None
    try:
        read_question(text)
    except RaccoonError as error:
        problem = str(error)
    return {"xgid": text, "svg": board_svg(position), "problem": problem}


def _new(rest: str) -> Game:
    kind, _, length = rest.partition(" ")
    if kind == "money" and not length:
        return Game.money()
    if kind == "match" and length.isascii() and length.isdecimal() and len(length) < 4 and int(length):
        return Game.match(int(length))
    raise RaccoonError(f"new {quoted(rest)}: write new money, or new match LENGTH")


def _game(body: Body) -> Game:
    """The game that ``_shown`` wrote."""
    state = body.get("game")
    if not isinstance(state, Mapping):
        raise RaccoonError("game: is missing; begin a new one")
    position = read_question(fields.text(state, "xgid")).position
    won = fields.integer(state, "won", -_MOST_WON, _MOST_WON)
    return Game(position, fields.flag(state, "crawford_played"), fields.flag(state, "opening"), won=won)


def _shown(game: Game) -> dict[str, Any]:
    state = {"xgid": to_xgid(game.position), "crawford_played": game.crawford_played, "opening": game.opening, "won": game.won}
    about = {"stage": game.stage, "decides": game.decides, "score": game.score, "length": game.position.match_length}
    return {
        "game": state,
        **about,
        "legal": game.legal(),
        "match_over": game.match_over,
        "cube": game.position.cube_value,
        "board": _board(game.position, bottom=0, names=_NAMES),
    }


def _roll(game: Game, rest: str, generator: np.random.Generator) -> Game:
    if game.stage not in (OPENING, ROLL):
        return game.roll(1, 2)  # says what the game waits for
    alone("roll", rest)
    first, second = generator.choice(6, 2, replace=game.stage == ROLL) + 1
    return game.roll(int(first), int(second))


def _step(name: str) -> Callable[[Game, str, np.random.Generator], Game]:
    def done(game: Game, rest: str, _: np.random.Generator) -> Game:
        alone(name, rest)
        return STEPS[name](game)

    return done


_ACTIONS: dict[str, Callable[[Game, str, np.random.Generator], Game]] = {
    "roll": _roll,
    "play": lambda game, rest, _: game.play(rest),
    **{name: _step(name) for name in STEPS},
}

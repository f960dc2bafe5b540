"""RGP, the Raccoon Game Protocol: a player behind lines of text, in the manner of UCI. ``docs/rgp.md`` specifies every message.

One message a line in, some lines out, of which the last one closes the answer: ``ok``, ``best ..``, ``readyok``, ``rgpok``, ``bye`` or
``error ..``. After an error everything is as it was before the message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TextIO

import raccoon
from raccoon.checks import quoted
from raccoon.contracts import Player, RaccoonError
from raccoon.env.formats.xgid import to_xgid
from raccoon.play.game import OVER, STEPS, Game, alone
from raccoon.runs import interrupts
from raccoon.search.analysis.questions import Question, read_question

__all__ = ["LONGEST_LINE", "MESSAGES", "VERSION", "Session", "serve"]

VERSION = 1
"""Of the protocol; moves when a message changes its meaning."""
LONGEST_LINE = 4096
"""Bytes of a message, its line end included."""

log = logging.getLogger(__name__)
_RULES = ("jacoby", "beavers", "nocube")


class Session:
    """One connection: a ``player`` and the game that it is asked about, at first a money game before its opening roll.

    ``ended``: the other side has said ``quit``.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.game = Game.money()
        self.ended = False

    def answer(self, line: str) -> list[str]:
        """The lines that answer one message; none for an empty one. Nothing is raised but an interrupt."""
        name, *rest = line.split(maxsplit=1) or [""]
        if not name:
            return []
        try:
            message = MESSAGES.get(name)
            if message is None:
                raise RaccoonError(f"unknown message {quoted(name)}; there are {', '.join(MESSAGES)}")
            found = message(self, "".join(rest).strip())
        except RaccoonError as error:
            found = [f"error {error}"]
        except Exception as error:  # a fault of the player must not end the program that the other side talks to
            if interrupts.is_interrupt(error):
                raise
            log.exception("fault while answering %s", quoted(line))
            found = [f"error fault of this program: {type(error).__name__}: {error}"]
        return [_one_line(text) for text in found]

    def hello(self, rest: str) -> list[str]:
        alone("rgp", rest)
        return [f"id name Raccoon {raccoon.__version__}", f"id player {self.player.name}", f"rgpok {VERSION}"]

    def ready(self, rest: str) -> list[str]:
        alone("isready", rest)
        return ["readyok"]

    def new(self, rest: str) -> list[str]:
        kind, *words = rest.split() or [""]
        if kind == "match" and len(words) == 1:
            self.game = Game.match(_number(words[0], "new match", 1))
        elif kind == "money" and len(set(words)) == len(words) and set(words) <= {*_RULES}:
            self.game = Game.money("jacoby" in words, "beavers" in words, "nocube" not in words)
        else:
            raise RaccoonError(f"new {quoted(rest)}: write new match LENGTH, or new money with any of {', '.join(_RULES)} after it")
        return ["ok"]

    def position(self, rest: str) -> list[str]:
        self.game = Game.at(read_question(rest).position)
        return ["ok"]

    def roll(self, rest: str) -> list[str]:
        words = rest.split()
        if len(words) != 2:
            raise RaccoonError(f"roll {quoted(rest)}: write two numbers, as in roll 3 1")
        return self.moved(self.game.roll(*(_number(word, "roll", 1, 6) for word in words)))

    def play(self, rest: str) -> list[str]:
        return self.moved(self.game.play(rest))

    def resign(self, rest: str) -> list[str]:
        return self.moved(self.game.resign(_number(rest, "resign", 1, 3)))

    def go(self, rest: str) -> list[str]:
        alone("go", rest)
        return [f"best {self.game.decide(self.player)}"]

    def legal(self, rest: str) -> list[str]:
        alone("legal", rest)
        return [*(f"legal {action}" for action in self.game.legal()), "ok"]

    def state(self, rest: str) -> list[str]:
        alone("state", rest)
        score = "score {} {}".format(*self.game.score)
        return [f"state {self.game.stage} player {self.game.decides} {score} xgid {to_xgid(self.game.position)}", "ok"]

    def analyse(self, rest: str) -> list[str]:
        from raccoon.search.analysis.answers import analyse
        from raccoon.search.analysis.questions import parts_of

        count = _number(rest, "analyse", 1) if rest else None
        parts = parts_of(self.player)
        if parts is None:
            raise RaccoonError(f"analyse: the player {self.player.name} has no engine and search to ask; go says what it does")
        if not self.game.decides:
            raise RaccoonError("analyse: nobody has to act; state says what the game waits for")
        record = next(iter(analyse([Question(self.game.position, own_cube=True)], *parts, cubeful=None)))
        rows = record["candidates"][:count] if "candidates" in record else [record]
        notes = [f"info note {note}" for note in record["notes"]]
        return [*(_numbers(row) for row in rows), *_cube(record.get("cube_action")), *notes, "ok"]

    def quit(self, rest: str) -> list[str]:
        alone("quit", rest)
        self.ended = True
        return ["bye"]

    def moved(self, game: Game) -> list[str]:
        """The answer to a message after which the game is ``game``."""
        self.game = game
        if game.stage != OVER:
            return ["ok"]
        words = "over winner {} points {} score {} {}".format(1 if game.won > 0 else 2, abs(game.won), *game.score)
        return [f"{words} {'match' if game.match_over else 'game'}", "ok"]


def _step(name: str) -> Callable[[Session, str], list[str]]:
    """What answers the message ``name``, which stands alone and takes the game one step on."""

    def answer(session: Session, rest: str) -> list[str]:
        alone(name, rest)
        return session.moved(STEPS[name](session.game))

    return answer


MESSAGES: dict[str, Callable[[Session, str], list[str]]] = {
    "rgp": Session.hello,
    "isready": Session.ready,
    "new": Session.new,
    "position": Session.position,
    "roll": Session.roll,
    "play": Session.play,
    "double": _step("double"),
    "take": _step("take"),
    "beaver": _step("beaver"),
    "pass": _step("pass"),
    "resign": Session.resign,
    "next": _step("next"),
    "go": Session.go,
    "analyse": Session.analyse,
    "legal": Session.legal,
    "state": Session.state,
    "quit": Session.quit,
}
"""What answers each message."""


def serve(player: Player, source: BinaryIO, out: TextIO) -> None:
    """Answer the messages of ``source`` on ``out`` until one says ``quit`` or there are no more."""
    session = Session(player)
    for line in _lines(source):
        answers = session.answer(line) if line is not None else [f"error a message of more than {LONGEST_LINE} bytes; it was left out"]
        for text in answers:
            print(text, file=out)
        out.flush()
        if session.ended:
            return


def _lines(source: BinaryIO) -> Iterator[str | None]:
    """The lines of a stream as text, whatever its bytes are; None for one that is too long, of which no more than that is in memory."""
    while line := source.readline(LONGEST_LINE):
        whole = line
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = source.readline(LONGEST_LINE)
            whole = b""
        yield whole.decode(errors="replace") if whole else None


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


def _number(text: str, name: str, least: int, most: int | None = None) -> int:
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else -1
    if value < least or (most is not None and value > most):
        raise RaccoonError(f"{name} {quoted(text)}: write a whole number, {least} {'or more' if most is None else f'to {most}'}")
    return value


def _numbers(row: dict[str, Any]) -> str:
    """The line of one candidate, or of a position before the roll; what is not known is left out."""
    words = [f"{name} {row[name]}" for name in ("rank", "ply") if row.get(name) is not None]
    words += [f"{name} {row[name]:.6f}" for name in ("equity", "mwc", "se") if row[name] is not None]
    words += [f"{name} {chance:.6f}" for name, chance in (row["chances"] or {}).items()]
    return " ".join(["info", *words, *([f"play {row['move']}"] if row["move"] is not None else [])])


def _cube(action: dict[str, Any] | None) -> list[str]:
    """The line about the cube, where there is one to turn."""
    if action is None:
        return []
    words = [f"{name} {action[name]:.6f}" for name in ("no_double", "double_take", "double_pass")]
    words += [f"mwc_{name} {value:.6f}" for name, value in (action["mwc"] or {}).items()]
    return [" ".join(["info cube", *words, "action", action["action"]])]

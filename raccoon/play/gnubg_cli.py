"""The real GNU Backgammon program as a player with its own cube: ``player=gnubg_cli``, ``opponent=gnubg_cli``.

Raccoon's runner plays the game, the program only answers: it is given the position, the roll, the cube, the score and the
rules as one XGID and asked for a hint. Unlike the ``gnubg`` engine, which evaluates without a cube, it ranks plays by its
own cubeful equities and makes its own doubles, takes and beavers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted, whole
from raccoon.contracts import Boards, Cubes, RaccoonError, Turns
from raccoon.env.formats.board26 import to_board26
from raccoon.env.formats.xgid import Position, to_xgid
from raccoon.env.notation import parse_turn
from raccoon.play.gnubg_process import GnubgProcess, find_program

__all__ = ["GnubgCliPlayer"]

T = TypeVar("T")

_MOST_AWAY = 64
"""The longest match that the program plays."""
_DEEPEST = 4
_PLAY = re.compile(r"^ *1\. +Cube(?:ful|less) \d+-ply +(\S.*?) +(?:Eq|MWC)\.?:", re.MULTILINE)
_ACTION = re.compile(r"^Proper cube action: (\w[^,\n]*), (take|pass|beaver)\b", re.MULTILINE)
_DOUBLES = ("Double", "Redouble")
_HOLDS = re.compile(r"^(?:No |Never |Optional |Too good to )(?:re)?double$")
_SETUP = (
    "set threads 1",
    *(f"set automatic {what} off" for what in ("game", "roll", "move", "bearoff", "crawford")),
    "set automatic doubles 0",
    "set display off",
    "set confirm new off",
    "set confirm save off",
    "set output rawboard on",
    "set output mwc off",
    *(f"set evaluation {what} type evaluation" for what in ("chequerplay", "cubedecision")),
    *(f"set evaluation {what} evaluation noise 0" for what in ("chequerplay", "cubedecision")),
)


@dataclass(frozen=True)
class _Question:
    """What to type, and the board line with which the program confirms that it holds the position."""

    commands: tuple[str, ...]
    echo: str


class GnubgCliPlayer:
    """GNU Backgammon 1.07 or later, driven in text mode. Money games with every rule of ``CubeRules``, and matches to 64.

    ``ply``: 0 to 4, the program's own numbering, for plays and cube decisions, with its pruning nets and move filter, no
    noise and its own bear-off tables. ``timeout_s``: seconds that one answer may take; ``restarts``: how many new processes
    a question may cost when the program dies, hangs or answers nonsense (``restarts_used`` counts them, each is logged).
    ``programs``: processes that share the rows of a call: a program at 0 ply mostly sleeps, so some do more than one; the
    answers are the same. ``path``: null finds ``gnubg`` on the search path or in ``/usr/games``. ``name``: null says the ply.

    Where ``cubes.rules`` is None it ranks plays without a cube, never doubles and always takes. Raises RaccoonError for
    other settings and where the program is missing.
    """

    def __init__(
        self,
        ply: int = 0,
        timeout_s: float = 30.0,
        restarts: int = 3,
        programs: int = 4,
        path: str | None = None,
        name: str | None = None,
    ) -> None:
        if whole("player.ply", ply, 0) > _DEEPEST:
            raise RaccoonError(f"player.ply={quoted(ply)}: GNU Backgammon looks 0 to {_DEEPEST} plies ahead")
        number("player.timeout_s", timeout_s, "a number of seconds above 0", above=True)
        whole("player.restarts", restarts, 0)
        self.ply, self.timeout_s, self.restarts, self.path = ply, timeout_s, restarts, path
        self.programs = whole("player.programs", programs, 1)
        found, self.version = find_program(path, timeout_s)
        self.name = name or f"gnubg{ply}_cli"
        plies = (f"set evaluation {what} evaluation plies {ply}" for what in ("chequerplay", "cubedecision"))
        setup = (*_SETUP, *plies, "set evaluation cubedecision evaluation cubeful on", "new session")
        self._programs = [GnubgProcess(found, setup, timeout_s, restarts) for _ in range(self.programs)]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.ply, self.timeout_s, self.restarts, self.programs, self.path, self.name)

    @property
    def restarts_used(self) -> int:
        """How often a process had to be replaced so far."""
        return sum(program.restarts_used for program in self._programs)

    @property
    def pids(self) -> list[int]:
        """Process ids of the programs that run now."""
        return [program.pid for program in self._programs if program.pid is not None]

    def close(self) -> None:
        """End the programs; a later question starts them again."""
        for program in self._programs:
            program.close()

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """See ``Player.choose``. Forced plays are not asked. Raises RaccoonError when the program gives no answer."""
        chosen = np.zeros(len(turns), np.int64)
        rows = np.flatnonzero(np.diff(turns.offsets) > 1)
        cubes = turns.cubes.take(rows)
        cubeful = "off" if cubes.rules is None else "on"
        positions = _positions(turns.boards[rows], cubes, turns.dice[rows])
        questions = [
            _Question(
                (f"set evaluation chequerplay evaluation cubeful {cubeful}", f"set xgid {to_xgid(position)}", "hint 1"), _echo(position)
            )
            for position in positions
        ]
        chosen[rows] = self._ask(questions, lambda i, reply: _child(turns, int(rows[i]), reply))
        return chosen

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """See ``Player.double``; False where the side on roll may not double."""
        return self._decide(boards, cubes, lambda action: action[0], False)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """See ``Player.take``; True where the side on roll could not have doubled."""
        return self._decide(boards, cubes, lambda action: action[1] != "pass", True)

    def beaver(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """``bool[N]``: would it redouble at once, asked like ``take``? False without beavers in the rules."""
        return self._decide(boards, cubes, lambda action: action[1] == "beaver", False)

    def _decide(self, boards: Boards, cubes: Cubes, read: Callable[[tuple[bool, str]], bool], otherwise: bool) -> NDArray[np.bool_]:
        answers = np.full(len(boards), otherwise)
        rows = np.flatnonzero(cubes.may_double())
        positions = _positions(boards[rows], cubes.take(rows))
        questions = [_Question((f"set xgid {to_xgid(position)}", "hint"), _echo(position)) for position in positions]
        answers[rows] = [read(action) for action in self._ask(questions, lambda _, reply: _action(reply))]
        return answers

    def _ask(self, questions: Sequence[_Question], read: Callable[[int, str], T | None]) -> list[T]:
        """Answers in order; question ``i`` goes to program ``i`` modulo their number."""
        answers: dict[int, T] = {}

        def run(index: int) -> None:
            for i in range(index, len(questions), len(self._programs)):
                question = questions[i]
                # without the echo the answer would be about the position before, which the program keeps when it refuses one
                answers[i] = self._programs[index].ask(
                    question.commands, lambda reply, i=i, echo=question.echo: read(i, reply) if echo in reply else None
                )

        busy = min(len(self._programs), len(questions))
        if busy > 1:
            with ThreadPoolExecutor(busy) as pool:
                list(pool.map(run, range(busy)))
        elif busy:
            run(0)
        return [answers[i] for i in range(len(questions))]


def _positions(boards: Boards, cubes: Cubes, dice: NDArray[np.int8] | None = None) -> list[Position]:
    """The rows as positions under their rules; cubeless ones as money games with an untouched cube."""
    if cubes.away is not None and cubes.rules is not None and (cubes.away > _MOST_AWAY).any():
        raise RaccoonError(f"GNU Backgammon: {int(cubes.away.max())} points to go; it plays matches to {_MOST_AWAY} at most")
    rolls: list[tuple[int, int] | None] = [None] * len(boards) if dice is None else [(int(a), int(b)) for a, b in dice]
    if cubes.rules is None:
        return [Position(board, roll) for board, roll in zip(boards, rolls, strict=True)]
    rules, limit = cubes.rules, cubes.rules.cap.bit_length() - 1
    found: list[Position] = []
    for i, (board, roll) in enumerate(zip(boards, rolls, strict=True)):
        value, owner = int(cubes.value[i]), int(cubes.owner[i])
        if cubes.away is None:
            found.append(Position(board, roll, value, owner, jacoby=rules.jacoby, beavers=rules.beavers, cube_limit=limit))
            continue
        mine, theirs = (int(away) for away in cubes.away[i])
        length = max(mine, theirs)
        crawford = cubes.crawford is not None and bool(cubes.crawford[i])
        found.append(Position(board, roll, value, owner, (length - mine, length - theirs), length, crawford, cube_limit=limit))
    return found


def _echo(position: Position) -> str:
    """Part of the line ``board:...`` (FIBS board style 3) that the program prints for this position."""
    points = to_board26(position.board[None])[0].tolist()
    points[0] = -points[0]  # the other side's checkers are negative on its bar as well
    dice = sorted(position.dice or (0, 0), reverse=True)
    return ":" + ":".join(str(x) for x in (*points, 1, *dice, *dice, position.cube_value)) + ":"


def _child(turns: Turns, row: int, reply: str) -> int | None:
    """Index of the child that the first hint leads to; None when there is none."""
    match = _PLAY.search(reply)
    if match is None:
        return None
    try:
        board = parse_turn(turns.boards[row], turns.dice[row], match[1])
    except RaccoonError:
        return None
    children = turns.children[turns.offsets[row] : turns.offsets[row + 1]]
    hits = np.flatnonzero((children == board).all(axis=(1, 2)))
    return int(hits[0]) if hits.size else None


def _action(reply: str) -> tuple[bool, str] | None:
    """``(doubles, answer)`` of the proper cube action; None when there is none. An optional double is not made."""
    match = _ACTION.search(reply)
    if match is None or not (match[1] in _DOUBLES or _HOLDS.match(match[1])):
        return None
    return match[1] in _DOUBLES, match[2]

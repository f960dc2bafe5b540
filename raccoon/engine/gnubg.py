"""GNU Backgammon as an engine: the only file that calls it.

Two packages: ``gnubg_nn`` (``package="nn"``) evaluates without pruning; ``gnubg`` (``package="pruned"``) is the whole
program, whose pruning nets make 1- and 2-ply several times faster and shift values by up to .005 points. Both take
whatever they are given and answer with plausible numbers or die, so every board is validated first, finished games are
scored here, and the native move chooser is asked at 0 ply only, on live boards with legal dice. Evaluations are cubeless.

Weights, caches and settings are global to the process: use one process per worker.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase, checked
from raccoon.engine.gnubg_levels import LEVELS
from raccoon.engine.outcomes import exact_probs6, five_from_six, points_from_five, six_from_five
from raccoon.engine.rolls import best_of_rolls, plays_of_rolls
from raccoon.env.board import as_board, terminal_points, unfinished
from raccoon.env.movegen import ROLLS, afterstates

__all__ = ["LEVELS", "GnubgEngine", "best_move_equity", "candidate_equities", "roll_values"]

_PLIES = (0, 1, 2)
_PACKAGES = {"nn": "gnubg_nn", "pruned": "gnubg"}
_CHUNK = 8192
"""Boards converted at a time, which bounds the memory that a batch of any size needs."""
_SIDES = np.dtype([("other", "V25"), ("mine", "V25")])

NativeBoard = tuple[Sequence[int], Sequence[int]]
Evaluate = Callable[[list[NativeBoard]], Iterator[tuple[float, ...]]]


class GnubgEngine(EngineBase):
    """GNUBG's cubeless evaluation at ``ply`` 0, 1 or 2 (its own numbering: 0 is the plain network).

    ``package``: ``"nn"`` for full-width lookahead, ``"pruned"`` for the fast one; at 0 ply they agree to 1e-4.
    Raises RaccoonError for another ply or package, or when the package is not installed.
    """

    def __init__(self, ply: int = 0, package: Literal["nn", "pruned"] = "nn", name: str | None = None) -> None:
        if ply not in _PLIES or isinstance(ply, bool):
            raise RaccoonError(f"engine.ply={quoted(ply)}: GNUBG evaluates at 0, 1 or 2")
        if package not in _PACKAGES:
            raise RaccoonError(f"engine.package={quoted(package)}: give nn or pruned")
        super().__init__(name or f"gnubg{ply}" + ("-pruned" if package == "pruned" else ""))
        self.ply = ply
        self.package = package
        self._evaluate = _nn(ply) if package == "nn" else _pruned(ply)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.ply, self.package, self.name)

    def probs5(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N, 5]``: GNUBG's cumulative (win, win_g+, win_bg, lose_g+, lose_bg) of the side on roll.

        Finished boards are exact. Raises RaccoonError on illegal boards.
        """
        boards = checked(boards)
        points = terminal_points(boards)
        live = np.flatnonzero(points == 0)
        out = five_from_six(exact_probs6(points))
        if live.size:
            self.evaluations += live.size
            out[live] = self._probs5(boards[live])
        return out

    def roll_values(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N, 21]``: see ``roll_values``, with this engine's evaluation.

        At 0 ply GNUBG's own move chooser picks the plays, which is about 1.4 times as fast as evaluating every play
        from here and agrees with it to 1e-7 (rounding in races).
        """
        if self.ply or self.package != "nn":
            return best_of_rolls(boards, self)
        boards = unfinished(boards)
        native = _never_over(boards)
        points = np.empty((len(boards), len(ROLLS)))
        points[~native] = best_of_rolls(boards[~native], self)
        children = _chosen(boards[native])
        self.evaluations += len(children)
        points[native] = -points_from_five(_rows(self._evaluate(children), len(children))).reshape(-1, len(ROLLS))
        return points

    def roll_plays(self, boards: Boards) -> tuple[Boards, NDArray[np.float64]]:
        """The cubeless best play of each of the 21 rolls: afterstates ``int8[N, 21, 2, 25]`` (opponent on roll) and their
        ``float64[N, 21, 5]`` cumulative probabilities, of the side on roll in them; finished ones exact.

        0 ply, unpruned. Raises RaccoonError on illegal or finished boards.
        """
        if self.ply or self.package != "nn":
            raise RaccoonError(f"engine {self.name}: roll_plays is there at 0 ply with package=nn only")
        boards = unfinished(boards)
        native = _never_over(boards)
        plays = np.empty((len(boards), len(ROLLS), 2, 25), np.int8)
        plays[~native] = plays_of_rolls(boards[~native], self)
        chosen = _chosen(boards[native])
        plays[native] = np.array([[list(side) for side in sides] for sides in chosen], np.int8).reshape(-1, len(ROLLS), 2, 25)
        probs5 = np.empty((len(boards), len(ROLLS), 5))
        probs5[~native] = self.probs5(plays[~native].reshape(-1, 2, 25)).reshape(-1, len(ROLLS), 5)
        self.evaluations += len(chosen)
        probs5[native] = _rows(self._evaluate(chosen), len(chosen)).reshape(-1, len(ROLLS), 5)
        return plays, probs5

    def _probs5(self, live: Boards) -> NDArray[np.float64]:
        out = np.empty((len(live), 5))
        for start in range(0, len(live), _CHUNK):
            part = live[start : start + _CHUNK]
            out[start : start + len(part)] = _rows(self._evaluate(_native_boards(part)), len(part))
        return out

    def _probs6(self, live: Boards) -> NDArray[np.float64]:
        return six_from_five(self._probs5(live))

    def _points(self, live: Boards) -> NDArray[np.float64]:
        return points_from_five(self._probs5(live))

    def _value(self, live: Boards) -> NDArray[np.float64]:
        return self._points(live) / 3.0


def roll_values(boards: Boards, ply: int = 0) -> NDArray[np.float64]:
    """``float64[N, 21]``: points to the mover after its best play of each roll, in ``movegen.ROLLS`` order, by GNUBG at ``ply``.

    A roll that ends the game counts exactly 1, 2 or 3; a dance is minus the points of the swapped board. Raises
    RaccoonError on illegal or finished boards.
    """
    return _engine(ply).roll_values(boards)


def best_move_equity(board: Boards, d1: int, d2: int, ply: int = 0) -> float:
    """Points to the mover of ``board`` (``int8[2, 25]``, mover in slot 1) after its best whole-turn play of the roll.

    At 0 ply by GNUBG's own move chooser; the board it lands on is evaluated again, because the numbers that come with
    the move are wrong in races. Deeper plies go through ``candidate_equities`` (the chooser can kill the process).
    Raises RaccoonError on an illegal or finished board or dice outside 1..6.
    """
    if ply != 0:
        return max(points for _, points in candidate_equities(board, d1, d2, ply))
    boards, (first, second) = _playable(board, d1, d2)
    moves, key = _module("nn").best_move(boards[0].tolist(), first, second, 0, b=1)
    child = np.array(_module("nn").board_from_position_key(key), np.int8) if moves else boards[0, ::-1]
    return -float(_engine(0).points(child[None])[0])


def candidate_equities(board: Boards, d1: int, d2: int, ply: int = 0) -> list[tuple[Boards, float]]:
    """Every distinct whole-turn play of a roll: ``(afterstate int8[2, 25], points to the mover)``, best first.

    The four half-moves of a double are one play. Children that end the game count exactly 1, 2 or 3. Ties stay in
    position-key order. Raises RaccoonError on an illegal or finished board or dice outside 1..6.
    """
    boards, dice = _playable(board, d1, d2)
    children, _ = afterstates(boards, np.array([dice], np.int64))
    points = -_engine(ply).points(children)
    return [(children[i], float(points[i])) for i in np.argsort(-points, kind="stable")]


def _playable(board: Boards, d1: int, d2: int) -> tuple[Boards, tuple[int, int]]:
    boards = as_board(board)[None]
    if terminal_points(boards)[0]:
        raise RaccoonError("board: the game is over, there is no play to choose")
    for die in (d1, d2):
        if isinstance(die, bool) or not isinstance(die, int | np.integer) or not 1 <= die <= 6:
            raise RaccoonError(f"dice {d1}, {d2}: each die is 1 to 6")
    return boards, (int(d1), int(d2))


@lru_cache(maxsize=len(_PLIES))
def _engine(ply: int) -> GnubgEngine:
    return GnubgEngine(ply)


def _native_boards(boards: Boards) -> list[NativeBoard]:
    """Boards in the form that is fastest for the bindings: two ``bytes`` of 25 (counts are 0..15, so bytes hold them)."""
    sides: Any = np.ascontiguousarray(boards).reshape(-1, 50).view(_SIDES).ravel()
    return sides.tolist()


def _rows(probs: Iterator[tuple[float, ...]], count: int) -> NDArray[np.float64]:
    """``float64[count, 5]``; no list in between, so that each tuple is freed while it is still in the processor's cache."""
    return np.fromiter(itertools.chain.from_iterable(probs), np.float64, 5 * count).reshape(-1, 5)


def _chosen(boards: Boards) -> list[NativeBoard]:
    """The afterstates that the native 0-ply chooser picks for each board and each of the 21 rolls, board by board.

    ``boards`` are validated, live and cannot be finished by one roll: the chooser checks nothing.
    """
    choose, decode = _module("nn").best_move, _module("nn").board_from_position_key
    rolls = ROLLS.tolist()
    children: list[NativeBoard] = []
    for board in boards.tolist():
        for first, second in rolls:
            moves, key = choose(board, first, second, 0, b=1)
            children.append(decode(key) if moves else (board[1], board[0]))
    return children


def _never_over(boards: Boards) -> NDArray[np.bool_]:
    """``bool[N]``: no roll can end the game (more than four checkers left); only those are safe with the native chooser."""
    return boards[:, 1].sum(axis=1) > 4


def _nn(ply: int) -> Evaluate:
    probabilities = _module("nn").probabilities
    return lambda boards: map(probabilities, boards, itertools.repeat(ply))


def _pruned(ply: int) -> Evaluate:
    gnubg = _module("pruned")
    # every flag is given: the package's default is Jacoby on, which makes gammons worthless while the cube is centred
    cube = dict(gnubg.cube_info(1, -1, 0, 0, (0, 0), 0, 0)) | {"jacoby": 0, "gammonprice": ((1.0, 1.0), (1.0, 1.0))}
    context = gnubg.eval_context(0, ply, 1, 1, 0.0)
    # this binding reads lists and tuples only: anything else with a length ends the process
    return lambda boards: (gnubg.evaluate([list(other), list(mine)], cube, context)[:5] for other, mine in boards)


def _module(package: str) -> ModuleType:
    module = _PACKAGES[package]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        pip = module.replace("_", "-")
        raise RaccoonError(f"engine.package={package}: Python package {pip} cannot be imported ({error}); pip install {pip}") from error

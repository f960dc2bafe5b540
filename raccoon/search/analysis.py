"""What a player thinks of positions: read ids, search them, give records that can be printed or kept as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine, RaccoonError, Turns
from raccoon.engine.outcomes import exact_probs6
from raccoon.env.board import terminal_points
from raccoon.env.codec import from_position_id, position_id
from raccoon.env.movegen import check_dice, enumerate_turns
from raccoon.env.notation import format_turn
from raccoon.env.xgid import from_xgid
from raccoon.search.expectimax import Expectimax
from raccoon.search.filters import keep_best
from raccoon.search.lookahead import terminal_value
from raccoon.search.rollout import Rollout

__all__ = ["Question", "analyse", "read_dice", "read_question"]

_MOVER = [3, 4, 5, 0, 1, 2]  # chances of the side that has just moved, from those of the side on roll
_AT_ONCE = 8


@dataclass(frozen=True)
class Question:
    """A board ``int8[2, 25]`` (side on roll in slot 1) and the roll to play, None before the roll."""

    board: Boards
    dice: tuple[int, int] | None


def read_dice(value: Any) -> tuple[int, int] | None:
    """Two dice from ``[3, 1]``, ``31``, ``"3 1"`` or ``"3-1"``; None stays None. Raises RaccoonError for anything else."""
    if value is None:
        return None
    parts = list(value) if isinstance(value, list | tuple) else [part for part in str(value) if part not in " -,"]
    try:
        numbers = [int(part) for part in parts]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 2:
        raise RaccoonError(f"dice={value!r}: give two numbers from 1 to 6, such as dice=[3,1]")
    first, second = check_dice(np.array([numbers]), 1)[0].tolist()
    return first, second


def read_question(text: Any, dice: Any = None) -> Question:
    """The question in a Position ID or an XGID, whose own dice count unless ``dice`` are given.

    Raises RaccoonError naming ``text`` for a bad id or a finished game, and for bad dice.
    """
    if not isinstance(text, str):
        raise RaccoonError(
            f"position={text!r}: give a Position ID or an XGID; one that reads as a number needs quotes: position=\"'{text}'\""
        )
    text, rolled = text.strip(), read_dice(dice)
    if "=" in text or ":" in text:
        found = from_xgid(text)
        board, rolled = found.board, rolled or found.dice
    else:
        board = from_position_id(text)
    if terminal_points(board[None])[0]:
        raise RaccoonError(f"position {text!r}: the game is over; there is nothing to play")
    return Question(board, rolled)


def analyse(questions: Sequence[Question], engine: Engine, search: Any) -> Iterator[dict[str, Any]]:
    """One record a question, in their order, a few searched at a time.

    With dice: ``position, dice, candidates, evaluations, seconds``; a candidate has ``move, position`` (after it),
    ``equity`` (points to the mover), ``difference`` to the best, ``chances`` (the mover's six, None where the engine knows
    none), ``ply``, ``se`` (points; the standard error of a rolled-out equity, else None) and whether it was searched in full;
    best first, those searched less deeply last. Without: ``position, equity, chances, ply, se, evaluations, seconds`` of the
    side on roll. Chances are those behind the equity; rolled-out ones are means, and rare ones can be slightly negative.
    ``evaluations``, pruning and filter engines included, and ``seconds`` are shared evenly by the questions searched together.
    """
    engines = _engines(engine, search)
    for start in range(0, len(questions), _AT_ONCE):
        part = list(questions[start : start + _AT_ONCE])
        began, before = time.perf_counter(), sum(each.evaluations for each in engines)
        rolled = [question for question in part if question.dice is not None]
        plain = [question for question in part if question.dice is None]
        found = dict(zip(map(id, rolled), _turns(rolled, engine, search), strict=True))
        found |= dict(zip(map(id, plain), _boards(plain, engine, search), strict=True))
        seconds, used = time.perf_counter() - began, sum(each.evaluations for each in engines) - before
        for question in part:
            yield found[id(question)] | {"evaluations": used // len(part), "seconds": seconds / len(part)}


def _engines(engine: Engine, search: Any) -> list[Engine]:
    """The distinct engines that a search asks: the player's, its filter's, the one that prunes, those of a rollout's own search."""
    found = {id(engine): engine}
    while search is not None:
        for part in (getattr(search, "prune", None), getattr(getattr(search, "filter", None), "engine", None)):
            if part is not None:
                found[id(part)] = part
        search = getattr(search, "search", None)
    return list(found.values())


def _boards(questions: list[Question], engine: Engine, search: Any) -> list[dict[str, Any]]:
    if not questions:
        return []
    boards = np.stack([question.board for question in questions])
    ply = search.ply if isinstance(search, Expectimax) else 0
    chances: list[Any]
    errors: list[Any] = [None] * len(boards)
    if isinstance(search, Rollout):
        result = search.roll(boards, engine)
        equity, errors = result.equity, result.se.tolist()
        chances = result.probs6.tolist() if engine.has_probs else [None] * len(boards)
    else:
        equity = 3.0 * (search.tree(engine).values(boards, ply) if ply else np.asarray(engine.value(boards), np.float64))
        chances = _chances(boards, ply, engine, search)
    return [
        {"position": position_id(board), "dice": None, "equity": float(equity[i]), "chances": chances[i], "ply": ply, "se": errors[i]}
        for i, board in enumerate(boards)
    ]


@dataclass(frozen=True)
class _Found:
    """What is known of the M children of some turns, to the mover; ``chances`` and ``errors`` are None where unknown."""

    points: NDArray[np.float64]
    full: NDArray[np.bool_]
    plies: NDArray[np.int8]
    chances: list[list[float] | None]
    errors: list[float | None]


def _turns(questions: list[Question], engine: Engine, search: Any) -> list[dict[str, Any]]:
    if not questions:
        return []
    turns = enumerate_turns(np.stack([question.board for question in questions]), np.array([question.dice for question in questions]))
    found = _rolled_out(turns, engine, search) if isinstance(search, Rollout) else _searched(turns, engine, search)
    return [_record(turns, row, found) for row in range(len(turns))]


def _searched(turns: Turns, engine: Engine, search: Any) -> _Found:
    result = search.values(turns, engine)
    values, full = result.values.copy(), result.full.copy()
    plies = np.zeros(len(values), np.int8) if result.plies is None else result.plies.copy()
    if isinstance(search, Expectimax) and search.ply:
        _search_the_clear(turns, values, full, plies, search, engine)
    chances: list[list[float] | None] = [None] * len(plies)
    for ply in np.unique(plies):
        rows = np.flatnonzero(plies == ply)
        for row, six in zip(rows, _chances(turns.children[rows], int(ply), engine, search), strict=True):
            chances[row] = _to_mover(six)
    return _Found(3.0 * values, full, plies, chances, [None] * len(plies))


def _rolled_out(turns: Turns, engine: Engine, search: Rollout) -> _Found:
    """As ``Rollout.values``, but the trials are also asked for chances, and a play that is the only one left is rolled out too."""
    values, full = search.filter.apply(turns, engine)
    points = 3.0 * values
    chances = [_to_mover(six) for six in _chances(turns.children, 0, engine, search)]
    errors: list[float | None] = [None] * len(points)
    picked = np.flatnonzero(full & (terminal_value(turns.children) == 0))
    if len(picked):
        result = search.roll(turns.children[picked], engine)
        points[picked] = -result.equity
        for place, row in enumerate(picked):
            errors[row] = float(result.se[place])
            chances[row] = _to_mover(result.probs6[place].tolist() if engine.has_probs else None)
    return _Found(points, full, np.zeros(len(points), np.int8), chances, errors)


def _to_mover(six: list[float] | None) -> list[float] | None:
    return None if six is None else [six[outcome] for outcome in _MOVER]


def _search_the_clear(
    turns: Turns, values: NDArray[np.float64], full: NDArray[np.bool_], plies: NDArray[np.int8], search: Expectimax, engine: Engine
) -> None:
    """In place: a play that a search does not look below, being the only one or far ahead, is still shown at full depth."""
    searched = np.add.reduceat((plies == search.ply).astype(np.int64), turns.offsets[:-1]) > 0
    best, _ = keep_best(np.where(full, values, -np.inf), turns.offsets, 1)
    clear = best[~searched & (terminal_value(turns.children[best]) == 0)]
    if len(clear):
        values[clear] = -search.tree(engine).values(turns.children[clear], search.ply)
        rows = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
        full[np.isin(rows, rows[clear])] = False
        full[clear], plies[clear] = True, search.ply


def _chances(boards: Boards, ply: int, engine: Engine, search: Any) -> list[Any]:
    """Six chances of the side on roll of each board, behind its value at ``ply``; None where nobody knows them."""
    if not engine.has_probs:
        return [None] * len(boards)
    points = terminal_points(boards)
    out = exact_probs6(points).astype(np.float64)
    live = points == 0
    if ply:
        out[live] = search.tree(engine).chances(boards[live], ply)
    elif live.any():
        out[live] = engine.probs6(boards[live])
    return out.tolist()


def _record(turns: Turns, row: int, found: _Found) -> dict[str, Any]:
    start, stop = int(turns.offsets[row]), int(turns.offsets[row + 1])
    full, plies, points = found.full, found.plies, found.points
    order = sorted(range(start, stop), key=lambda child: (not full[child], -plies[child] if not full[child] else 0, -points[child], child))
    board, dice = turns.boards[row], turns.dice[row]
    best = points[order[0]]
    candidates = [
        {
            "move": format_turn(board, turns.children[child], dice),
            "position": position_id(turns.children[child]),
            "equity": float(points[child]),
            "difference": float(points[child] - best),
            "chances": found.chances[child],
            "ply": int(plies[child]),
            "se": found.errors[child],
            "searched": bool(full[child]),
        }
        for child in order
    ]
    return {"position": position_id(board), "dice": [int(die) for die in dice], "candidates": candidates}

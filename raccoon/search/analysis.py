"""What a player thinks of positions: search them, give records that can be printed or kept as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import (
    CENTRED,
    Boards,
    CubeEquities,
    CubefulSearch,
    CubeModel,
    Cubes,
    Engine,
    RaccoonError,
    Turns,
)
from raccoon.cube.cubeful import CubefulTree
from raccoon.cube.model import best_of
from raccoon.engine.outcomes import FLIPPED, exact_probs6
from raccoon.env.board import terminal_points
from raccoon.env.codec import position_id
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import format_turn
from raccoon.search.expectimax import Expectimax
from raccoon.search.filters import keep_best
from raccoon.search.lookahead import terminal_value
from raccoon.search.mcts import MCTS
from raccoon.search.questions import Question
from raccoon.search.rollout import Rollout

__all__ = ["analyse"]

_AT_ONCE = 8


def analyse(questions: Sequence[Question], engine: Engine, search: Any, model: CubeModel | None = None) -> Iterator[dict[str, Any]]:
    """One record a question, in their order, a few searched at a time.

    With dice: ``position, dice, candidates, evaluations, seconds``; a candidate has ``move, position`` (after it),
    ``equity`` (points to the mover), ``difference`` to the best, ``chances`` (the mover's six, None where the engine knows
    none), ``ply``, ``se`` (points; the standard error of a rolled-out equity, else None) and whether it was searched in full;
    best first, those searched less deeply last. Without: ``position, equity, chances, ply, se, evaluations, seconds`` of the
    side on roll. Chances are those behind the equity; rolled-out ones are means, and rare ones can be slightly negative; a tree
    of MCTS averages equities, so that it has none.
    ``evaluations``, pruning and filter engines included, and ``seconds`` are shared evenly by the questions searched together.

    ``model``: with the question's cube in play, which ranks plays by cubeful equity; ``cube`` (None without a model) is
    then the question's, and before the roll ``cube_action`` says ``no_double``, ``double_take``, ``double_pass`` and ``action``.
    Equities are in points per unit of the cube, in match play match winning chances from -1 to 1. Raises RaccoonError when
    the search or the engine cannot.
    """
    engines, name = _engines(engine, search), search.name
    if model is not None and not (isinstance(search, CubefulSearch) and engine.has_probs):
        raise RaccoonError(
            f"cubeful=true: needs a search that plays with a cube (static, expectimax, pruned; not {name}) and an engine that knows "
            "the outcome chances"
        )
    at_once = _AT_ONCE if model is None else 1  # each question has its own rules
    for start in range(0, len(questions), at_once):
        part = list(questions[start : start + at_once])
        began, before = time.perf_counter(), sum(each.evaluations for each in engines)
        rolled = [question for question in part if question.dice is not None]
        plain = [question for question in part if question.dice is None]
        found = dict(zip(map(id, rolled), _turns(rolled, engine, search, model), strict=True))
        found |= dict(zip(map(id, plain), _boards(plain, engine, search, model), strict=True))
        seconds, used = time.perf_counter() - began, sum(each.evaluations for each in engines) - before
        for question in part:
            cube = {"cube": None if model is None else question.cube()}
            yield found[id(question)] | cube | {"evaluations": used // len(part), "seconds": seconds / len(part)}


def _engines(engine: Engine, search: Any) -> list[Engine]:
    """The distinct engines that a search asks: the player's, its filter's, the one that prunes, those of a rollout's own search."""
    found = {id(engine): engine}
    while search is not None:
        for part in (getattr(search, "prune", None), getattr(getattr(search, "filter", None), "engine", None)):
            if part is not None:
                found[id(part)] = part
        search = getattr(search, "search", None)
    return list(found.values())


def _boards(questions: list[Question], engine: Engine, search: Any, model: CubeModel | None) -> list[dict[str, Any]]:
    if not questions:
        return []
    actions: list[dict[str, Any] | None] = [None] * len(questions)
    boards = np.stack([question.board for question in questions])
    ply = search.ply if isinstance(search, Expectimax) else 0
    chances: list[Any]
    errors: list[Any] = [None] * len(boards)
    if isinstance(search, Rollout):
        result = search.roll(boards, engine)
        equity, errors = result.equity, result.se.tolist()
        chances = result.probs6.tolist() if engine.has_probs else [None] * len(boards)
    elif isinstance(search, MCTS):
        equity, chances = 3.0 * search.pre_roll(boards, engine), [None] * len(boards)
    else:
        equity = 3.0 * (search.tree(engine).values(boards, ply) if ply else np.asarray(engine.value(boards), np.float64))
        chances = _chances(boards, ply, engine, search)
        if model is not None:
            cubes = questions[0].cubes
            found = search.cube_equities(boards, cubes, engine, model)
            equity = best_of(found, cubes.may_double())
            actions[0] = _action(found, cubes)
    heads = [{"position": position_id(board), "dice": None, "cube_action": actions[i]} for i, board in enumerate(boards)]
    return [head | {"equity": float(equity[i]), "chances": chances[i], "ply": ply, "se": errors[i]} for i, head in enumerate(heads)]


def _action(equities: CubeEquities, cubes: Cubes) -> dict[str, Any]:
    """What both sides do, in the words of the field."""
    nd, dt, dp = (float(column[0]) for column in equities)
    answer = "pass" if dt >= dp else "beaver" if dt < 0 and cubes.may_beaver()[0] else "take"
    again = "double" if cubes.owner[0] == CENTRED else "redouble"
    if not cubes.may_double()[0]:
        action = "no cube action"
    elif min(dt, dp) > nd:
        action = f"{again}, {answer}"
    else:
        action = f"too good to {again}, pass" if answer == "pass" else f"no {again}, {answer}"
    return {"no_double": nd, "double_take": dt, "double_pass": dp, "action": action}


@dataclass(frozen=True)
class _Found:
    """What is known of the M children of some turns, to the mover; ``chances`` and ``errors`` are None where unknown."""

    points: NDArray[np.float64]
    full: NDArray[np.bool_]
    plies: NDArray[np.int8]
    chances: list[list[float] | None]
    errors: list[float | None]


def _turns(questions: list[Question], engine: Engine, search: Any, model: CubeModel | None) -> list[dict[str, Any]]:
    if not questions:
        return []
    boards, dice = np.stack([question.board for question in questions]), np.array([question.dice for question in questions])
    turns = enumerate_turns(boards, dice, None if model is None else questions[0].cubes)
    found = _rolled_out(turns, engine, search) if isinstance(search, Rollout) else _searched(turns, engine, search, model)
    return [_record(turns, row, found) for row in range(len(turns))]


def _searched(turns: Turns, engine: Engine, search: Any, model: CubeModel | None) -> _Found:
    result = search.values(turns, engine) if model is None else search.cubeful(turns, engine, model)
    values, full = result.values.copy(), result.full.copy()
    plies = np.zeros(len(values), np.int8) if result.plies is None else result.plies.copy()
    if isinstance(search, Expectimax) and search.ply:
        _search_the_clear(turns, values, full, plies, search, engine, model)
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
    return None if six is None else [six[outcome] for outcome in FLIPPED]


def _search_the_clear(
    turns: Turns,
    values: NDArray[np.float64],
    full: NDArray[np.bool_],
    plies: NDArray[np.int8],
    search: Expectimax,
    engine: Engine,
    model: CubeModel | None,
) -> None:
    """In place: a play that a search does not look below, being the only one or far ahead, is still shown at full depth."""
    searched = np.add.reduceat((plies == search.ply).astype(np.int64), turns.offsets[:-1]) > 0
    best, _ = keep_best(np.where(full, values, -np.inf), turns.offsets, 1)
    clear = best[~searched & (terminal_value(turns.children[best]) == 0)]
    if len(clear):
        rows = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
        if model is None:
            values[clear] = -search.tree(engine).values(turns.children[clear], search.ply)
        else:
            tree, cubes = CubefulTree(search.tree(engine), model), turns.cubes.take(rows[clear]).flipped()
            values[clear] = tree.candidates(turns.children[clear], cubes, search.ply) / 3.0
        full[np.isin(rows, rows[clear])] = False
        full[clear], plies[clear] = True, search.ply


def _chances(boards: Boards, ply: int, engine: Engine, search: Any) -> list[Any]:
    """Six chances of the side on roll of each board, behind its value at ``ply``; None where nobody knows them."""
    if not engine.has_probs or isinstance(search, MCTS):
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

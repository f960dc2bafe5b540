"""What a player thinks of positions: search them, give records that can be printed or kept as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, CubefulSearch, CubeModel, Engine, ExactChancesModel, RaccoonError, Turns
from raccoon.cube.choice import best_of
from raccoon.cube.decision_points import decision_points, gammon_values
from raccoon.engine.outcomes import FLIPPED, exact_probs6
from raccoon.engine.remembered import RememberedEngine
from raccoon.env.board import terminal_points
from raccoon.env.movegen import afterstates, enumerate_turns
from raccoon.env.notation import format_turns
from raccoon.search.analysis.forced_or_gated import search_forced_or_gated_plays
from raccoon.search.analysis.questions import Question
from raccoon.search.analysis.records import Found, Unit, cube_action, named_chances, plays_record
from raccoon.search.expectimax import Expectimax
from raccoon.search.lookahead import StaticSearch, child_cubes, terminal_value
from raccoon.search.mcts.search import MCTS
from raccoon.search.rollout.search import Rollout

__all__ = ["analyse"]

_MOST, _QUICK_S = 64, 0.25
"""Most questions that are asked together; more than one only where the ones before took less time than that."""


def analyse(
    questions: Iterable[Question],
    engine: Engine,
    search: Any,
    model: CubeModel | None = None,
    cubeful: bool | None = True,
    chances: bool = True,
) -> Iterator[dict[str, Any]]:
    """One record a question, in their order; few questions are in memory at a time.

    All begin with ``input, line, position, xgid, dice, move`` of the question, then ``engine, search`` (names), ``ply`` of the search (None
    where it does not count in plies) and ``cube`` (None: cubeless); they end with ``notes`` (what is left out, and why),
    ``evaluations`` (pruning and filter engines included) and ``seconds`` of this question. Questions of a static search are asked
    together, up to 64 at a time while that is quick: ``evaluations`` are then those of the question asked alone, ``seconds`` an equal part.

    With dice: ``candidates``, each with ``move, position`` (after it), ``equity`` (points to the mover), ``mwc``, ``difference`` to the
    best, ``chances`` (the mover's by name, cumulative; None where nobody knows them), ``ply``, ``se`` (points; the standard error of a
    rolled-out equity, else None) and whether it was ``searched`` in full; best first, those searched less deeply last. Of a question
    with a ``move``, ``played`` says ``rank, cost`` (points, 0 or more) and ``mwc_cost``; it is searched as deeply as the best.
    Without dice: ``equity, mwc, chances, ply, se`` of the side on roll. Chances are those behind the equity; rolled-out ones are means,
    and rare ones can be slightly negative; a tree of MCTS averages equities, so that it has none. ``chances=False`` leaves them out, and
    ``cube_points`` with them (all None): they cost as much as the equities.

    ``model``: puts the question's cube in play where ``cubeful`` is True; None: where the question has a cube of its own and the search
    can. Plays are then ranked by cubeful equity, and before the roll ``cube_action`` says what to do (see ``records``),
    ``cube_points`` from which winning chances that changes and ``gammon_values`` what gammons count (``cube.decision_points``).
    A game whose limit of the cube is 0 is cubeless.
    Cubeful equities are in points per unit of the cube; at a match score they are normalised, and ``mwc`` is the match winning chance.
    Raises RaccoonError when the search or the engine cannot.
    """
    name: str = search.name
    able = engine.has_probs and isinstance(search, CubefulSearch)
    if model is not None and cubeful and not able:
        raise RaccoonError(
            f"cubeful=true: needs a search that plays with a cube (static, expectimax, pruned, mcts; not {name}) and an engine that "
            "knows the outcome chances"
        )
    left, size, cheap = iter(questions), 1, isinstance(search, StaticSearch)
    while part := list(islice(left, size)):
        began = time.perf_counter()
        source, records = _together(part, engine) if cheap else engine, list[dict[str, Any]]()
        for question in part:
            wanted = able and question.own_cube if cubeful is None else cubeful
            records.append(_record(question, source, search, model if wanted else None, cubeful, chances))
        spent = time.perf_counter() - began
        size = min(2 * size, _MOST) if cheap and spent < _QUICK_S else 1
        yield from (record | {"seconds": spent / len(part)} for record in records)


def _together(questions: Sequence[Question], engine: Engine) -> Engine:
    """``engine`` asked about every board of the questions at once."""
    rolled = [question for question in questions if question.position.dice is not None]
    boards = [question.position.board[None] for question in questions if question.position.dice is None]
    if rolled:
        before = np.stack([question.position.board for question in rolled])
        boards.append(afterstates(before, np.array([question.position.dice for question in rolled]))[0])
    return RememberedEngine(engine, np.concatenate(boards))


def _record(
    question: Question, engine: Engine, search: Any, model: CubeModel | None, cubeful: bool | None, chances: bool
) -> dict[str, Any]:
    used, engines = model if question.cubes.rules is not None else None, _engines(engine, search)
    before = sum(each.evaluations for each in engines)
    found = (_before_the_roll if question.position.dice is None else _plays)(question, engine, search, used, chances)
    names = {"engine": engine.name, "search": search.name, "ply": _ply(search)}
    cube = {"cube": None if used is None else question.cube()}
    told = {"notes": _notes(question, engine, search, used, cubeful), "evaluations": sum(each.evaluations for each in engines) - before}
    return question.as_record() | names | cube | found | told


def _ply(search: Any) -> int | None:
    """Depth of a search that counts in plies."""
    return None if isinstance(search, MCTS | Rollout) else getattr(search, "ply", 0)


def _notes(question: Question, engine: Engine, search: Any, used: CubeModel | None, cubeful: bool | None) -> list[str]:
    notes: list[str] = []
    if question.own_cube and used is None:
        reason = "cubeful=false" if cubeful is False else f"{search.name} with {engine.name} is cubeless"
        reason = reason if question.cubes.rules is not None else "the limit 0 is a game without it"
        notes.append(f"the cube and the score are ignored ({reason}): equities are cubeless money points")
    if isinstance(search, MCTS):
        notes.append("no chances: a tree of MCTS averages equities, not outcomes")
        if question.position.dice is not None:
            notes.append("rank 1 is the play that the tree chose by its visits; equities of plays with few visits are rough")
    elif not engine.has_probs:
        notes.append(f"no chances: {engine.name} knows equities only")
    return notes


def _engines(engine: Engine, search: Any) -> list[Engine]:
    """The distinct engines that a search asks: the player's, its filter's, the one that prunes, those of a rollout's own search."""
    found = {id(engine): engine}
    while search is not None:
        for part in (getattr(search, "prune", None), getattr(getattr(search, "filter", None), "engine", None)):
            if part is not None:
                found[id(part)] = part
        search = getattr(search, "search", None)
    return list(found.values())


def _before_the_roll(question: Question, engine: Engine, search: Any, model: CubeModel | None, wanted: bool) -> dict[str, Any]:
    boards, cubes, ply = question.position.board[None], question.cubes, _ply(search)
    action, error, chances, more = None, None, None, {"cube_points": None, "gammon_values": None}
    unit = Unit(None if model is None else cubes)
    if isinstance(search, Rollout):
        result = search.roll(boards, engine)
        equity, error = result.equity[0], float(result.se[0])
        chances = result.probs6[0].tolist() if engine.has_probs else None
    else:
        chances = _chances(boards, ply or 0, engine, search, model)[0] if wanted else None
        if model is not None:
            found = search.cube_equities(boards, cubes, engine, model)
            equity, action = best_of(found, cubes.may_double())[0], cube_action(found, cubes)
            points = None if chances is None else decision_points(model, chances, boards[0], cubes)
            more = {"cube_points": points, "gammon_values": gammon_values(model, cubes)}
        else:
            equity = 3.0 * float(_cubeless(boards, ply or 0, engine, search)[0])
    told = {"equity": unit.equity(equity), "mwc": unit.mwc(equity), "chances": named_chances(chances)}
    return told | {"se": error, "cube_action": action} | more


def _cubeless(boards: Boards, ply: int, engine: Engine, search: Any) -> NDArray[np.floating]:
    """``float[N]``: value (value scale) of unfinished boards before the roll by a search that is no rollout."""
    if isinstance(search, MCTS):
        return search.pre_roll(boards, engine)
    return search.tree(engine).values(boards, ply) if ply else engine.value(boards)


def _plays(question: Question, engine: Engine, search: Any, model: CubeModel | None, wanted: bool) -> dict[str, Any]:
    boards, dice = question.position.board[None], np.array([question.position.dice])
    turns = enumerate_turns(boards, dice, None if model is None else question.cubes)
    moves = format_turns(boards[0], turns.children, dice[0])
    requested = [] if question.move is None else [moves.index(question.move)]
    if isinstance(search, Rollout):
        found = _rolled_out(turns, engine, search, requested)
    elif isinstance(search, MCTS):
        found = _grown(turns, engine, search, requested, model)
    else:
        found = _searched(turns, engine, search, model, requested, wanted)
    return plays_record(turns, moves, found, Unit(None if model is None else question.cubes), question.move)


def _searched(turns: Turns, engine: Engine, search: Any, model: CubeModel | None, requested: list[int], wanted: bool) -> Found:
    result = search.values(turns, engine) if model is None else search.cubeful(turns, engine, model)
    values, full = result.values.copy(), result.full.copy()
    plies = np.zeros(len(values), np.int8) if result.plies is None else result.plies.copy()
    if isinstance(search, Expectimax) and search.ply:
        search_forced_or_gated_plays(turns, values, full, plies, search, engine, model, requested)
    full[requested] = True
    chances: list[list[float] | None] = [None] * len(plies)
    for ply in np.unique(plies) if wanted else ():
        rows = np.flatnonzero(plies == ply)
        for row, six in zip(rows, _chances(turns.children[rows], int(ply), engine, search, model), strict=True):
            chances[row] = _to_mover(six)
    return Found(3.0 * values, full, [int(ply) for ply in plies], chances, [None] * len(plies))


def _grown(turns: Turns, engine: Engine, search: MCTS, requested: list[int], model: CubeModel | None) -> Found:
    """The tree's own means; a play that is asked about, which it may hardly have visited, and the chosen one get a tree each."""
    result = search.values(turns, engine) if model is None else search.cubeful(turns, engine, model)
    values, full = result.values.copy(), result.full.copy()
    if requested:
        full[requested] = True
        own = np.flatnonzero(full & (terminal_value(turns.children) == 0))
        children, cubes = turns.children[own], child_cubes(turns).take(own)
        if model is None:
            values[own] = -_cubeless(children, 0, engine, search)
        else:
            values[own] = -best_of(search.cube_equities(children, cubes, engine, model), cubes.may_double()) / 3.0
    none: list[Any] = [None] * len(values)
    return Found(3.0 * values, full, none, none, none)


def _rolled_out(turns: Turns, engine: Engine, search: Rollout, requested: list[int]) -> Found:
    """As ``Rollout.values``, but the trials are also asked for chances, and a play that is the only one left is rolled out too."""
    values, full = search.filter.apply(turns, engine)
    full[requested] = True
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
    return Found(points, full, [0 if error is None else None for error in errors], chances, errors)


def _to_mover(six: list[float] | None) -> list[float] | None:
    return None if six is None else [six[outcome] for outcome in FLIPPED]


def _chances(boards: Boards, ply: int, engine: Engine, search: Any, model: CubeModel | None = None) -> list[Any]:
    """Six chances of the side on roll of each board, behind its value at ``ply``, exact where ``model`` knows them; None where nobody
    knows them."""
    if not engine.has_probs or isinstance(search, MCTS):
        return [None] * len(boards)
    points = terminal_points(boards)
    out = exact_probs6(points).astype(np.float64)
    live = points == 0
    if ply:
        out[live] = search.tree(engine).chances(boards[live], ply)
    elif live.any():
        out[live] = engine.probs6(boards[live])
    if isinstance(model, ExactChancesModel):
        out[live] = model.chances(out[live], boards[live])
    return out.tolist()

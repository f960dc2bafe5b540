"""Checks of players, searches and cube models."""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.contracts import (
    BeaverPlayer,
    CubeEquities,
    CubefulSearch,
    CubeModel,
    CubeRules,
    Cubes,
    Engine,
    Player,
    Search,
    SearchResult,
    Turns,
)
from raccoon.env import ragged
from raccoon.env.board import terminal_points
from raccoon.env.movegen import enumerate_turns
from raccoon.rng import generator
from raccoon.testing.subjects import expect, sample_turns, subject

__all__ = ["check_cube", "check_player", "check_search"]


def _copy(turns: Turns) -> Turns:
    return Turns(turns.boards.copy(), turns.dice.copy(), turns.cubes, turns.children.copy(), turns.offsets.copy())


def _row(turns: Turns, row: int) -> Turns:
    return enumerate_turns(turns.boards[row : row + 1], turns.dice[row : row + 1])


def check_player(player: Any, count: int = 40) -> None:
    """Check a ``Player`` (object or config node) on ``count`` positions; AssertionError says what is wrong.

    A legal choice for every row, the same when asked again, one row at a time or in another order; cube answers of the
    right type; inputs left alone.
    """
    player = subject(player)
    expect(isinstance(player, Player), f"{type(player).__name__} lacks a method or attribute of raccoon.contracts.Player")
    expect(isinstance(player.name, str) and player.name, "name must be a non-empty string")
    turns = sample_turns(count)
    before = _copy(turns)
    chosen = player.choose(turns)
    expect(isinstance(chosen, np.ndarray) and chosen.shape == (count,), f"choose must return an array of shape ({count},)")
    expect(chosen.dtype == np.int64, f"choose must return int64, not {chosen.dtype}")
    sizes = np.diff(turns.offsets)
    expect(((chosen >= 0) & (chosen < sizes)).all(), "choose must return an index within each row")
    for name in ("boards", "dice", "children", "offsets"):
        expect(np.array_equal(getattr(turns, name), getattr(before, name)), f"choose changed turns.{name}")
    expect(np.array_equal(player.choose(turns), chosen), "choose must give the same answer twice")
    for row in range(0, count, max(1, count // 8)):
        expect(player.choose(_row(turns, row))[0] == chosen[row], f"choose depends on the batch: row {row} alone gets another answer")
    order = np.arange(count)[::-1]
    mirrored = player.choose(enumerate_turns(turns.boards[order], turns.dice[order]))
    expect(np.array_equal(mirrored[order], chosen), "choose depends on the order of the rows")
    _check_cube_answers(player, turns, Cubes.centred(count))
    if knows_cubes(player):
        rules = CubeRules(jacoby=True, beavers=True)
        _check_cube_answers(player, turns, Cubes.centred(count, rules))
        live = player.choose(Turns(turns.boards, turns.dice, Cubes.centred(count, rules), turns.children, turns.offsets))
        expect(((live >= 0) & (live < sizes)).all(), "choose must return an index within each row with a live cube, too")


def knows_cubes(player: Any) -> bool:
    """Whether the player can be asked with a live cube: an engine without outcome chances, or a search that is cubeless, cannot."""
    engine, search = getattr(player, "engine", None), getattr(player, "search", None)
    return engine is None or (getattr(engine, "has_probs", True) and isinstance(search, CubefulSearch))


def _check_cube_answers(player: Any, turns: Turns, cubes: Cubes) -> None:
    count = len(turns)
    for name in ("double", "take", "beaver"):
        if name == "beaver" and not isinstance(player, BeaverPlayer):
            continue
        answer = getattr(player, name)(turns.boards, cubes)
        good = isinstance(answer, np.ndarray) and answer.shape == (count,) and answer.dtype == bool
        expect(good, f"{name} must return bool[{count}]")
        alone = getattr(player, name)(turns.boards[:1], cubes.take(slice(0, 1)))
        expect(alone[0] == answer[0], f"{name} depends on the batch: row 0 alone gets another answer")


def check_cube(model: Any) -> None:
    """Check a ``CubeModel`` (object or config node) on random outcome chances; AssertionError says what is wrong.

    Equities within what a game can pay; nothing but the row's own cube matters; the no-double equity is that of ``by_owner``;
    a pass pays a point; ``optimal`` follows from the three equities; finished games exact, with and without Jacoby.
    """
    from raccoon.cube.choice import best_of

    model = subject(model)
    expect(isinstance(model, CubeModel), f"{type(model).__name__} lacks a method or attribute of raccoon.contracts.CubeModel")
    expect(model.moves in ("cubeful", "cubeless"), "moves must be cubeful or cubeless")
    expect(isinstance(model.doubles, bool) and isinstance(model.suffix, str), "doubles must be a bool and suffix a string")
    boards = sample_turns(60).boards
    rng = generator(1, "testing-cube")
    probs6 = rng.dirichlet(np.ones(6), 60)
    owner = rng.integers(-1, 2, 60).astype(np.int8)
    value = np.where(owner == 0, 1, 2).astype(np.int32)
    for jacoby in (False, True):
        cubes = Cubes(value, owner, CubeRules(jacoby=jacoby))
        nd, dt, dp = model.equities(probs6, boards, cubes)
        for name, found in (("nd", nd), ("dt", dt), ("dp", dp)):
            expect(found.shape == (60,) and np.isfinite(found).all(), f"equities: {name} must be finite float64[60]")
        expect((np.abs(nd) <= 3 + 1e-9).all() and (np.abs(dt) <= 6 + 1e-9).all(), "equities lie beyond what a game can pay")
        expect((dp == 1).all(), "a pass pays a point at the cube before doubling")
        by_owner = model.by_owner(probs6, boards, jacoby)
        expect(by_owner.shape == (60, 3), "by_owner must return float64[N, 3]")
        expect(np.allclose(by_owner[np.arange(60), owner], nd), "by_owner and equities disagree about not doubling")
        expect(np.allclose(model.no_double(probs6, boards, cubes), nd), "no_double and equities disagree")
        best = best_of(CubeEquities(nd, dt, dp), cubes.may_double())
        expect(np.allclose(model.optimal(probs6, boards, cubes), best), "optimal does not follow from equities")
        expect(np.allclose(model.no_double(probs6[:1], boards[:1], cubes.take(slice(0, 1))), nd[:1]), "equities depend on the batch")
        points = np.resize([1.0, -2.0, 3.0], 60)
        exact = np.where((owner == 0) & jacoby, np.sign(points), points)
        expect(np.array_equal(model.finished(points, cubes), exact), "finished games must be exact (Jacoby: a point while centred)")


def check_search(search: Any, engine: Engine | None = None, count: int = 24) -> None:
    """Check a ``Search`` (object or config node) with ``engine`` (a random one by default) on ``count`` positions.

    One finite value a child on the value scale, exact where the game is over; at least one child of each row searched to
    full depth; the same result for one row at a time.
    """
    from raccoon.engine import RandomEngine

    engine = RandomEngine(1) if engine is None else engine
    search = subject(search)
    expect(isinstance(search, Search), f"{type(search).__name__} lacks a method or attribute of raccoon.contracts.Search")
    expect(isinstance(search.name, str) and search.name, "name must be a non-empty string")
    turns = sample_turns(count)
    before = _copy(turns)
    result = search.values(turns, engine)
    _check_result(result, turns)
    _check_cubeful(search, engine, turns)
    expect(np.array_equal(turns.children, before.children), "values changed turns.children")
    again = search.values(turns, engine)
    expect(
        np.array_equal(again.values, result.values) and np.array_equal(again.full, result.full), "values must be the same when asked twice"
    )
    for row in range(0, count, max(1, count // 6)):
        part = slice(turns.offsets[row], turns.offsets[row + 1])
        alone = search.values(_row(turns, row), engine)
        same = np.array_equal(alone.full, result.full[part]) and np.allclose(alone.values, result.values[part], atol=1e-6)
        expect(same, f"values depend on the batch: row {row} alone gets others")


def _check_cubeful(search: Any, engine: Engine, turns: Turns) -> None:
    from raccoon.cube.model import Janowski

    if not engine.has_probs or not isinstance(search, CubefulSearch):
        return
    cubes, model = Cubes.centred(len(turns), CubeRules()), Janowski(bearoff=False)
    result = search.cubeful(Turns(turns.boards, turns.dice, cubes, turns.children, turns.offsets), engine, model)
    expect(result.values.shape == (len(turns.children),), "cubeful must value every child")
    expect((np.abs(result.values[result.full]) <= 1 + 1e-6).all(), "cubeful values are points / 3 and lie in [-1, 1]")
    for name, found in zip(("nd", "dt", "dp"), search.cube_equities(turns.boards, cubes, engine, model), strict=True):
        expect(found.shape == (len(turns),) and np.isfinite(found).all(), f"cube_equities: {name} must be finite float64[N]")


def _check_result(result: Any, turns: Turns) -> None:
    total = len(turns.children)
    expect(isinstance(result, SearchResult), "values must return a SearchResult")
    expect(result.values.shape == (total,) and result.values.dtype == np.float64, f"SearchResult.values must be float64[{total}]")
    expect(result.full.shape == (total,) and result.full.dtype == bool, f"SearchResult.full must be bool[{total}]")
    expect(ragged.row_max(result.full, turns.offsets).all(), "every row needs a child searched to full depth")
    expect(np.isfinite(result.values[result.full]).all(), "values of fully searched children must be finite")
    expect((np.abs(result.values[result.full]) <= 1 + 1e-6).all(), "values are equity / 3 and lie in [-1, 1]")
    expect(isinstance(result.evaluations, int | np.integer) and result.evaluations >= 0, "evaluations must count evaluations")
    points = terminal_points(turns.children)
    over = (points != 0) & result.full
    expect(np.allclose(result.values[over], -points[over] / 3.0), "children that end the game must have their exact value")

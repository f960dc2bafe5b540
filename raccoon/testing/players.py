"""Checks of players and searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.contracts import Cubes, Engine, Player, Search, SearchResult, Turns
from raccoon.env.board import terminal_points
from raccoon.env.movegen import enumerate_turns
from raccoon.testing.subjects import expect, sample_turns, subject

__all__ = ["check_player", "check_search"]


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
    for name in ("double", "take"):
        answer = getattr(player, name)(turns.boards, Cubes.centred(count))
        good = isinstance(answer, np.ndarray) and answer.shape == (count,) and answer.dtype == bool
        expect(good, f"{name} must return bool[{count}]")


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


def _check_result(result: Any, turns: Turns) -> None:
    total = len(turns.children)
    expect(isinstance(result, SearchResult), "values must return a SearchResult")
    expect(result.values.shape == (total,) and result.values.dtype == np.float64, f"SearchResult.values must be float64[{total}]")
    expect(result.full.shape == (total,) and result.full.dtype == bool, f"SearchResult.full must be bool[{total}]")
    expect(np.logical_or.reduceat(result.full, turns.offsets[:-1]).all(), "every row needs a child searched to full depth")
    expect(np.isfinite(result.values[result.full]).all(), "values of fully searched children must be finite")
    expect((np.abs(result.values[result.full]) <= 1 + 1e-6).all(), "values are equity / 3 and lie in [-1, 1]")
    expect(isinstance(result.evaluations, int | np.integer) and result.evaluations >= 0, "evaluations must count evaluations")
    points = terminal_points(turns.children)
    over = (points != 0) & result.full
    expect(np.allclose(result.values[over], -points[over] / 3.0), "children that end the game must have their exact value")

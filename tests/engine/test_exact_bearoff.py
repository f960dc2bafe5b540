"""Bear-off tables against golden cases, plain recursion over the rules, and gnubg's own tables."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.engine.exact_bearoff import engine as bearoff
from raccoon.engine.exact_bearoff import tables as bearoff_tables
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.exact_bearoff.tables import MAX_ROLLS, count, one_sided, positions, rank, two_sided
from raccoon.env.board import START
from raccoon.env.movegen import ROLL_PROBS, afterstates_all_rolls
from raccoon.env.position_ids import from_position_id, from_position_key, position_key
from raccoon.testing import check_engine

Bearoffs = Callable[..., np.ndarray]

gnubg_nn: Any = importlib.import_module("gnubg_nn")
CASES = json.loads((Path(__file__).parents[1] / "golden" / "cube_exact.json").read_text())


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own, with nothing remembered from before."""
    monkeypatch.setenv("RACCOON_CACHE", str(tmp_path / "cache"))
    bearoff._two_sided.cache_clear()
    yield tmp_path / "cache"
    bearoff._two_sided.cache_clear()


def test_numbering_counts_by_checkers_first() -> None:
    table = positions(15)
    assert len(table) == count(15) == 54264
    assert np.array_equal(rank(table), np.arange(len(table)))
    assert len(np.unique(table, axis=0)) == len(table)
    assert (np.diff(table.sum(axis=1)) >= 0).all()


@cache
def _win(key: bytes) -> float:
    """P(win) of the side on roll by recursion over the rules of the game, no table involved."""
    children, offsets = afterstates_all_rolls(from_position_key(key)[None])
    total = 0.0
    for roll in range(21):
        best = max(1.0 if not child[0].any() else 1.0 - _win(position_key(child)) for child in children[offsets[roll] : offsets[roll + 1]])
        total += ROLL_PROBS[roll] * best
    return total


def test_two_sided_equals_recursion_over_the_rules(random_bearoffs: Bearoffs) -> None:
    boards = random_bearoffs(30, 2, points=6, seed=3)
    assert BearoffEngine(6).probs6(boards)[:, 0] == pytest.approx([_win(position_key(board)) for board in boards], abs=1e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_cases(case: dict) -> None:
    board = from_position_id(case["id"])[None]
    engine = BearoffEngine(8 if board.sum(axis=2).max() > 6 else 6, one_sided=False) if board.sum() < 16 else None
    exact = engine.probs6(board)[0, 0] if engine else _with_one_sided(board)
    assert exact == pytest.approx(case["p"], abs=1e-5)


def _with_one_sided(board: np.ndarray) -> float:
    """With aces only there is nothing to choose, so that roll counts decide exactly."""
    counts = one_sided(8)
    mine, other = counts[rank(board[:, 1, :6])[0]], counts[rank(board[:, 0, :6])[0]]
    return float(sum(mine[n] * (1 - other[:n].sum()) for n in range(MAX_ROLLS)))


def test_two_sided_equals_gnubg(random_bearoffs: Bearoffs) -> None:
    boards = random_bearoffs(300, 6)
    theirs = [gnubg_nn.probabilities(board.tolist(), 0)[0] for board in boards]
    assert BearoffEngine(6).probs6(boards)[:, 0] == pytest.approx(theirs, abs=6e-5)  # theirs are stored in 16 bits


def test_one_sided_equals_gnubg() -> None:
    table, sides = one_sided(7), positions(7)
    assert table.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    for row in np.random.default_rng(1).integers(1, len(sides), 200):
        theirs = np.array(gnubg_nn.bearoff_probabilities(tuple(sides[row].tolist())))
        ours = table[row, 1 : len(theirs) + 1]
        # gnubg chooses by rounded tables, so near-ties are now and then broken the other way
        assert ours == pytest.approx(theirs[: len(ours)], abs=1e-3)
        assert np.arange(MAX_ROLLS) @ table[row] == pytest.approx(theirs @ np.arange(1, len(theirs) + 1), abs=2e-3)


def test_one_sided_errs_as_documented() -> None:
    exact, counts = two_sided(5), one_sided(5).astype(np.float64)
    later = 1.0 - np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)[:, :-1]], axis=1)
    error = np.abs(counts @ later.T - exact)[1:, 1:]
    assert error.max() < 0.0145
    assert error.mean() < 0.001


def test_knows_what_the_table_holds(random_bearoffs: Bearoffs) -> None:
    boards = np.concatenate([random_bearoffs(4, 6), START[None], random_bearoffs(4, 6)])
    boards[5, 1] = 0
    boards[5, 1, :2] = [4, 3]  # seven checkers
    boards[6, 1, 6] = 1  # off the home board
    boards[7, 1] = 0  # finished
    engine = BearoffEngine(6)
    assert engine.knows(boards).tolist() == [True] * 4 + [False, False, False, True, True]
    assert np.array_equal(engine.exact(boards), engine.knows(boards))
    check_engine(BearoffEngine(3))


def test_unknown_positions_are_refused() -> None:
    with pytest.raises(RaccoonError, match="in no table; use engine=composite"):
        BearoffEngine(2).value(START[None])


@pytest.mark.parametrize("checkers", [0, 9, True, 2.5])
def test_table_size_is_checked(checkers: object) -> None:
    with pytest.raises(RaccoonError, match="checkers"):
        BearoffEngine(checkers)  # pyright: ignore[reportArgumentType]


def test_tables_are_built_once_and_broken_ones_again(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch, random_bearoffs: Bearoffs
) -> None:
    built = []
    monkeypatch.setattr(bearoff, "two_sided", lambda checkers: built.append(checkers) or two_sided(checkers))
    board = random_bearoffs(1, 2)
    first = BearoffEngine(2).value(board)
    (path,) = cache_folder.iterdir()
    whole = path.read_bytes()
    header = whole[: len(whole) - 28 * 28 * 4 - 32]
    flipped = bytearray(whole)
    flipped[len(header) + 1000] ^= 1
    fortran = whole.replace(b"False", b"True ", 1)
    bad = [
        whole[:50],
        whole[:-32],
        header + bytes(28 * 28 * 4),
        header + bytes(28 * 28 * 4 + 32),
        bytes(flipped),
        bytes(len(whole)),
        fortran,
        b"",
    ]
    for content in [whole, *bad]:
        path.write_bytes(content)
        bearoff._two_sided.cache_clear()
        assert np.array_equal(BearoffEngine(2).value(board), first)
        assert path.read_bytes() == whole
    assert built == [2] * (1 + len(bad))


def test_a_cache_that_cannot_be_written_costs_nothing_else(cache_folder: Path, random_bearoffs: Bearoffs) -> None:
    cache_folder.write_text("a file where the folder should be")
    assert BearoffEngine(2).value(random_bearoffs(1, 2)).shape == (1,)


def test_a_cache_that_cannot_be_looked_into_costs_nothing_else(monkeypatch: pytest.MonkeyPatch, random_bearoffs: Bearoffs) -> None:
    """As another user's folder: the system refuses even to say whether a file is there."""
    monkeypatch.setenv("RACCOON_CACHE", f"/{'x' * 300}")
    bearoff._two_sided.cache_clear()
    assert BearoffEngine(2).value(random_bearoffs(1, 2)).shape == (1,)


@pytest.mark.slow
def test_one_sided_engine_covers_fourteen_checkers(random_bearoffs: Bearoffs) -> None:
    engine = BearoffEngine(6, one_sided=True)
    boards = random_bearoffs(300, 14)
    assert engine.knows(boards).all()
    assert not engine.exact(boards).all()
    theirs = [gnubg_nn.probabilities(board.tolist(), 0)[0] for board in boards]
    assert engine.probs6(boards)[:, 0] == pytest.approx(theirs, abs=2e-3)
    assert np.array_equal(engine.value(boards[engine.exact(boards)]), BearoffEngine(6).value(boards[engine.exact(boards)]))
    fifteen = boards[:1].copy()
    fifteen[0, 0] = 0
    fifteen[0, 0, 0] = 15
    assert not engine.knows(fifteen)[0]


@pytest.mark.slow
def test_a_larger_two_sided_table_contains_the_smaller() -> None:
    small, large = two_sided(4), two_sided(7)
    assert np.array_equal(large[: len(small), : len(small)], small)
    assert bearoff_tables.count(7) == len(large)

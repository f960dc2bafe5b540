"""Ragged rows against plain loops over the rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raccoon.env import ragged
from raccoon.env.lookup import ChildLookup, Lookup
from raccoon.env.movegen import enumerate_turns
from raccoon.testing import sample_boards


@pytest.fixture(scope="module")
def sizes() -> NDArray[np.int64]:
    return np.random.default_rng(3).integers(1, 6, 40)


@pytest.fixture(scope="module")
def offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return ragged.offsets_of(sizes)


@pytest.fixture(scope="module")
def values(offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    # few distinct numbers, so that most rows have ties
    return np.random.default_rng(4).integers(0, 3, offsets[-1]).astype(np.float64)


def rows(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    return np.split(values, offsets[1:-1])


def test_offsets_and_rows_of_entries(sizes: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
    assert offsets.dtype == np.int64
    assert offsets.tolist() == [sum(sizes[:row].tolist()) for row in range(len(sizes) + 1)]
    assert ragged.row_of(offsets).tolist() == [row for row, size in enumerate(sizes) for _ in range(size)]


def test_spread_repeats_a_value_or_an_array_for_each_entry(sizes: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
    pairs = np.arange(2 * len(sizes)).reshape(-1, 2)
    assert ragged.spread(pairs, offsets).tolist() == [pairs[row].tolist() for row, size in enumerate(sizes) for _ in range(size)]


def test_row_max_row_sum_and_shares(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    each = rows(values, offsets)
    assert ragged.row_max(values, offsets).tolist() == [max(row) for row in each]
    assert ragged.row_sum(values, offsets).tolist() == [sum(row) for row in each]
    counted = ragged.row_sum(values > 0, offsets)
    assert counted.dtype == np.int64
    assert counted.tolist() == [int((row > 0).sum()) for row in each]
    weights = values + 1.0
    np.testing.assert_allclose(ragged.shares(weights, offsets), np.concatenate([row / row.sum() for row in rows(weights, offsets)]))


def test_argmax_is_the_first_of_equals(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    found = ragged.argmax(values, offsets)
    assert found.tolist() == [start + int(np.argmax(row)) for start, row in zip(offsets, rows(values, offsets), strict=False)]
    assert ragged.argmax(np.full(5, -np.inf), np.array([0, 2, 5])).tolist() == [0, 2]


def test_the_best_of_each_row_comes_first_and_equals_as_they_are(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    order, ranks, places = ragged.best_first(values, offsets), ragged.ranks(values, offsets), ragged.places(offsets)
    for start, row in zip(offsets, rows(values, offsets), strict=False):
        wanted = sorted(range(len(row)), key=lambda entry, row=row: -row[entry])
        assert (order[start : start + len(row)] - start).tolist() == wanted
        assert [wanted[rank] for rank in ranks[start : start + len(row)]] == list(range(len(row)))
        assert places[start : start + len(row)].tolist() == list(range(len(row)))


def test_take_gives_the_entries_of_rows_in_any_order(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    each = rows(values, offsets)
    wanted = np.array([7, 0, 7, 39])
    index, starts = ragged.take(offsets, wanted)
    assert [row.tolist() for row in rows(values[index], starts)] == [each[row].tolist() for row in wanted]
    mask = np.zeros(len(each), bool)
    mask[[3, 9]] = True
    index, starts = ragged.take(offsets, mask)
    assert [row.tolist() for row in rows(values[index], starts)] == [each[3].tolist(), each[9].tolist()]


def test_softmax_of_each_row(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    wanted = [np.exp(row / 0.5) / np.exp(row / 0.5).sum() for row in rows(values, offsets)]
    np.testing.assert_allclose(ragged.softmax(values, offsets, 0.5), np.concatenate(wanted), rtol=1e-12)


def test_no_rows_at_all() -> None:
    none, offsets = np.zeros(0), np.zeros(1, np.int64)
    for found in (ragged.row_of(offsets), ragged.row_max(none, offsets), ragged.argmax(none, offsets), ragged.softmax(none, offsets)):
        assert found.shape == (0,)
    index, starts = ragged.take(offsets, np.zeros(0, np.int64))
    assert (index.tolist(), starts.tolist()) == ([], [0])


def test_lookup_finds_each_key_where_it_is() -> None:
    games = np.array([30, 4, 17, 0])
    assert Lookup(games).find(np.array([0, 17, 17, 30])).tolist() == [3, 2, 2, 0]


def test_child_lookup_finds_afterstates_within_their_row() -> None:
    boards = np.repeat(sample_boards(4), 2, axis=0)  # the same board twice: its children differ by their row alone
    turns = enumerate_turns(boards, np.tile(np.array([3, 1], np.int8), (len(boards), 1)))
    order = np.random.default_rng(5).permutation(len(turns.children))
    found = ChildLookup(turns).find(ragged.row_of(turns.offsets)[order], turns.children[order])
    assert found.tolist() == order.tolist()

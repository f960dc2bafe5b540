"""Finds rows by their keys: game numbers, boards within decisions, or equal boards of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards, Turns
from raccoon.env import ragged
from raccoon.env.board import as_boards
from raccoon.env.kernels import kernel
from raccoon.env.position_ids import row_keys
from raccoon.rng import MIX1

__all__ = ["ChildLookup", "Lookup", "unique_boards"]


class Lookup:
    """Where each of some distinct ``keys [N]`` is."""

    def __init__(self, keys: NDArray[Any]) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._sorted = np.asarray(keys)[self._order]

    def find(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """``int64[K]``: the index of each of ``keys [K]``, all of which are there."""
        return self._order[np.searchsorted(self._sorted, keys)]


class ChildLookup:
    """Where afterstates are among the children of ``turns``."""

    def __init__(self, turns: Turns) -> None:
        self._lookup = Lookup(row_keys(ragged.row_of(turns.offsets), turns.children))

    def find(self, rows: NDArray[np.int64], boards: Boards) -> NDArray[np.int64]:
        """``int64[K]``: the index in ``turns.children`` of each of ``boards int8[K, 2, 25]``, a child of its row ``rows int64[K]``."""
        return self._lookup.find(row_keys(rows, boards))


@kernel
def _equal(a: NDArray[np.int8], b: NDArray[np.int8]) -> bool:
    differing = np.int8(0)
    for cell in range(50):  # without a way out, so that many cells are compared at a time
        differing |= a[cell] ^ b[cell]
    return differing == 0


@kernel
def _unique(boards: NDArray[np.int8], first: NDArray[np.int64], inverse: NDArray[np.int64]) -> int:
    """Fill ``first`` and ``inverse`` for ``boards int8[N, 50]``; the number of distinct ones. Open addressing on a hash of the bytes."""
    n = boards.shape[0]
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int32)
    hashes = np.empty(n, np.uint64)
    words = np.zeros(7, np.uint64)
    cells = words.view(np.int8)
    count = 0
    for row in range(n):
        for cell in range(50):
            cells[cell] = boards[row, cell]
        mixed = np.uint64(0)
        for word in range(7):
            mixed = (mixed ^ words[word]) * MIX1
            mixed ^= mixed >> np.uint64(32)
        slot = mixed & mask
        while True:
            entry = table[slot]
            if entry < 0:
                table[slot] = count
                hashes[count] = mixed
                first[count] = row
                inverse[row] = count
                count += 1
                break
            if hashes[entry] == mixed and _equal(boards[first[entry]], boards[row]):
                inverse[row] = entry
                break
            slot = (slot + np.uint64(1)) & mask
    return count


def unique_boards(boards: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Deduplicate valid ``[N, 2, 25]`` boards.

    Returns ``first int64[U]``, the row where each distinct board appears first (ascending), and ``inverse int64[N]``
    with ``boards[first][inverse] == boards``. The boards are not checked.
    """
    array = as_boards(boards)
    first = np.empty(len(array), np.int64)
    inverse = np.empty(len(array), np.int64)
    count = _unique(array.reshape(-1, 50), first, inverse)
    return first[:count].copy(), inverse

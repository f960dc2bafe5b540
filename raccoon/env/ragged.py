"""Rows of different lengths in one flat array: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``, with ``offsets int64[N + 1]``.

The plays of many decisions are stored this way (``Turns.children``), and so are the half turns of a policy and the results
of a tree search. N is the number of rows and M the number of entries, ``offsets[-1]``. Functions that reduce a row to one
number need at least one entry in every row.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "argmax",
    "best_first",
    "first_where",
    "offsets_of",
    "places",
    "ranges",
    "ranks",
    "row_max",
    "row_of",
    "row_sum",
    "shares",
    "softmax",
    "spread",
    "take",
]

_T = TypeVar("_T", bound=np.generic)


def offsets_of(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """``int64[N + 1]``: the offsets of rows with ``sizes int[N]`` entries."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def spread(values: NDArray[_T], offsets: NDArray[np.int64]) -> NDArray[_T]:
    """``[M, ...]``: ``values [N, ...]``, which has one value a row, repeated for every entry of the row."""
    return np.repeat(values, np.diff(offsets), axis=0)


def row_of(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[M]``: the row of every entry."""
    return spread(np.arange(len(offsets) - 1), offsets)


def row_max(values: NDArray[_T], offsets: NDArray[np.int64]) -> NDArray[_T]:
    """``[N]``: the largest of ``values [M]`` in every row."""
    return np.maximum.reduceat(values, offsets[:-1])


def row_sum(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """``[N]``: the sum of ``values [M]`` in every row. Of a mask it counts the true entries, as ``int64``."""
    return np.add.reduceat(values.astype(np.int64) if values.dtype == bool else values, offsets[:-1])


def first_where(mask: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[N]``: index into the flat array of the first true entry of every row. Every row has one."""
    hits = np.flatnonzero(mask)
    return hits[np.searchsorted(hits, offsets[:-1])]


def argmax(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[N]``: index into the flat array of the largest of ``values [M]`` in every row, the first of equals."""
    return first_where(values == spread(row_max(values, offsets), offsets), offsets)


def best_first(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[M]``: indices into the flat array, row by row: the largest of ``values [M]`` first, of equals the first one."""
    return np.lexsort((-values, row_of(offsets)))


def places(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[M]``: the place of every entry in its row, from 0."""
    return np.arange(int(offsets[-1]), dtype=np.int64) - spread(offsets[:-1], offsets)


def ranks(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[M]``: the place of every entry in the order of ``best_first``, 0 for the largest of its row."""
    found = np.empty(int(offsets[-1]), np.int64)
    found[best_first(values, offsets)] = places(offsets)
    return found


def ranges(starts: NDArray[np.integer], sizes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(index int64[K], offsets int64[N + 1])``: the numbers ``starts[i]``, ``starts[i] + 1``, .. of each row, ``sizes[i]`` of them."""
    offsets = offsets_of(sizes)
    return np.arange(int(offsets[-1]), dtype=np.int64) + np.repeat(starts - offsets[:-1], sizes), offsets


def take(offsets: NDArray[np.int64], rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(index int64[K], offsets int64[R + 1])``: where the entries of ``rows`` (index array or mask) are, and their own offsets."""
    return ranges(offsets[:-1][rows], np.diff(offsets)[rows])


def shares(weights: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """``float64[M]``: ``weights [M]`` as parts of the sum of their row."""
    return weights / spread(row_sum(weights, offsets), offsets)


def softmax(values: NDArray[np.float64], offsets: NDArray[np.int64], temperature: float = 1.0) -> NDArray[np.float64]:
    """``float64[M]``: the softmax of ``values / temperature`` within every row."""
    return shares(np.exp((values - spread(row_max(values, offsets), offsets)) / temperature), offsets)

"""Finds rows by their keys: game numbers, or boards within decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Turns
from raccoon.env import ragged
from raccoon.env.position_ids import row_keys

__all__ = ["ChildLookup", "Lookup"]


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

"""A bounded table of evaluations by board: direct mapped, whole batches at a time, never wrong (keys are compared)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.env.position_ids import position_words
from raccoon.rng import GOLDEN, MIX1

__all__ = ["BoardCache"]


class BoardCache:
    """Rows of ``width`` float32 numbers by board. ``entries`` is rounded down to a power of two.

    A board has one place in the table; a later board with the same place replaces it.
    """

    def __init__(self, entries: int, width: int) -> None:
        if entries < 1:
            raise RaccoonError(f"cache={entries}: give a positive number of positions, or 0 for no cache")
        self.entries = 1 << (entries.bit_length() - 1)
        self._keys = np.zeros((self.entries, 2), np.uint64)  # the zero key (two empty sides) is no live position
        self._rows = np.zeros((self.entries, width), np.float32)

    def get(self, boards: Boards) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """``(rows float32[N, width], known bool[N])``; the rows of unknown boards mean nothing."""
        keys, slots = self._locate(boards)
        return self._rows[slots], (self._keys[slots] == keys).all(axis=1)

    def put(self, boards: Boards, rows: NDArray[np.float32]) -> None:
        """Remember ``rows [N, width]`` of ``boards``."""
        keys, slots = self._locate(boards)
        # Boards of this batch that share a place: the same one must win in both tables.
        slots, winners = np.unique(slots, return_index=True)
        self._keys[slots] = keys[winners]
        self._rows[slots] = rows[winners]

    def _locate(self, boards: Boards) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Keys ``uint64[N, 2]`` and their places in the table."""
        keys = position_words(boards)
        mixed = (keys[:, 0] * GOLDEN) ^ ((keys[:, 1] + GOLDEN) * MIX1)
        mixed ^= mixed >> np.uint64(29)
        mixed *= MIX1
        return keys, ((mixed >> np.uint64(32)) & np.uint64(self.entries - 1)).astype(np.intp)

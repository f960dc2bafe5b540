"""Boards as 26 signed numbers: the layout of Open Sage and of the JSON benchmarks.

Seen from one side ("mine"): index 0 is the other side's bar, 1 to 24 are my points (my checkers positive, the other side's
negative), 25 is my bar.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards

__all__ = ["from_board26", "to_board26"]


def to_board26(boards: Boards) -> NDArray[np.int64]:
    """``int64[N, 26]`` of ``int8[N, 2, 25]``, seen from slot 1."""
    out = np.zeros((len(boards), 26), np.int64)
    out[:, 1:26] = boards[:, 1]
    out[:, 24:0:-1] -= boards[:, 0, :24]
    out[:, 0] = boards[:, 0, 24]
    return out


def from_board26(rows: NDArray[Any]) -> Boards:
    """``int8[N, 2, 25]`` with "mine" in slot 1 from ``int[N, 26]``: the inverse of ``to_board26``. Nothing is checked."""
    rows = np.asarray(rows, np.int16).reshape(-1, 26)
    boards = np.zeros((len(rows), 2, 25), np.int8)
    boards[:, 1, :24] = np.maximum(rows[:, 1:25], 0)
    boards[:, 0, :24] = np.maximum(-rows[:, 1:25], 0)[:, ::-1]
    boards[:, 1, 24], boards[:, 0, 24] = rows[:, 25], rows[:, 0]
    return boards

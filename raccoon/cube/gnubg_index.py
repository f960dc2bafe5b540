"""The cube-life index of GNU Backgammon 1.1, found from its own equities (``tests/cube/test_gnubg_index.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards
from raccoon.cube.model import Janowski, Moves
from raccoon.env.board import is_race, pips

__all__ = ["GnubgJanowski"]

_CONTACT, _RACE, _PIP, _LONG_RACE = 0.76, 0.60, 0.0025, 0.80
_HOME = 6


class GnubgJanowski(Janowski):
    """Janowski's model as GNU Backgammon 1.1 reads it at 0-ply: index .76 with contact; in a race .60 and .0025 more for each pip of the
    side on roll, .80 at most; .60 once both sides are home.

    Other options and errors are those of ``Janowski``. GNU Backgammon 1.07 and before had the indices of ``Janowski`` itself.
    """

    renamed: ClassVar[Mapping[str, str]] = {"turns": "doubles"}

    def __init__(self, bearoff: bool = True, moves: Moves = "cubeful", doubles: bool = True) -> None:
        super().__init__(_CONTACT, _RACE, bearoff, moves, doubles)

    def index(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]``: cube-life index of each board."""
        race = np.minimum(_RACE + _PIP * pips(boards)[:, 1], _LONG_RACE)
        home = ~boards[:, :, _HOME:].any(axis=(1, 2))
        return np.where(home, _RACE, np.where(is_race(boards), race, _CONTACT))

    def _index_name(self) -> str:
        return "+gnubgindex"

"""Exact cubeful equities of the last rolls: both sides have few checkers, or few pips to go, all of them at home."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import OPPONENT, Boards, Cubes, RaccoonError
from raccoon.cube.choice import OWNERS, best_of, with_beavers
from raccoon.cube.exact_bearoff_tables import COLUMNS, WITHOUT_GAMMONS, cubeful, members
from raccoon.cube.janowski import CubeEquities
from raccoon.cube_rules import OWNER_NAMES
from raccoon.engine.base import checked
from raccoon.engine.exact_bearoff.engine import within
from raccoon.engine.exact_bearoff.table_files import load_or_build
from raccoon.engine.exact_bearoff.tables import count, rank

__all__ = ["LAST_ROLLS", "MOST", "MOST_PIPS", "CubefulBearoff", "last_rolls", "table_name"]

MOST = 8
"""Checkers a side of the largest table; while it is built it takes 290 MB."""
MOST_PIPS = 24
"""Pips a side of the largest table; while it is built it takes 340 MB."""
LAST_ROLLS = (6, 18)
"""Checkers and pips of the table that players use: 1,414 positions a side, 32 MB, built in two seconds."""
_BY_OWNER = [COLUMNS.index(OWNER_NAMES[owner]) for owner in OWNERS]


class CubefulBearoff:
    """Money equities for perfect play and perfect doubling by both sides, all checkers at home: each side has at most ``checkers``
    (1 to 8) of them, or at most 14 with at most ``pips`` (0 to 24) to go.

    Redoubles are without limit (``cubes.rules.cap`` is not looked at) and no gammon is possible, so that the Jacoby rule has no
    effect. The table is built once (6 checkers: seconds, 14 MB; 8: ten seconds, 144 MB) and kept with the other
    bear-off tables. Methods raise RaccoonError for a position that is not in the table (ask ``knows`` first) and for match play.
    """

    def __init__(self, checkers: int = 6, pips: int = 0) -> None:
        if isinstance(checkers, bool) or checkers not in range(1, MOST + 1):
            raise RaccoonError(f"checkers={quoted(checkers)}: the cubeful bear-off table takes 1 to {MOST}")
        if isinstance(pips, bool) or pips not in range(MOST_PIPS + 1):
            raise RaccoonError(f"pips={quoted(pips)}: the cubeful bear-off table takes 0 to {MOST_PIPS}")
        self.checkers, self.pips = int(checkers), int(pips)
        self._table = _table(self.checkers, self.pips)
        self._row = _rows(self.checkers, self.pips)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.checkers, self.pips)

    def knows(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: is the board in the table? Finished games are not."""
        return np.asarray((self._places(checked(boards)) >= 0).all(axis=1))

    def cubeless(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]``: points to the side on roll without a cube: twice its winning chance, minus 1."""
        return self._held(boards)[:, COLUMNS.index("cubeless")]

    def no_double(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N, 3]``: equity of not doubling now with the cube of each of ``raccoon.cube.choice.OWNERS``."""
        return self._held(boards)[:, _BY_OWNER]

    def equities(self, boards: Boards, cubes: Cubes) -> CubeEquities:
        """``(nd, dt, dp)`` to the side on roll, in points per unit of the cube before doubling, whether or not the side may double."""
        if cubes.away is not None:
            raise RaccoonError("cubes.away: the cubeful bear-off table is for money play; use the model in matches")
        held = self._held(boards)
        by_owner = held[:, _BY_OWNER]
        doubled = with_beavers(2.0 * by_owner[:, OPPONENT], cubes)
        return CubeEquities(by_owner[np.arange(len(held)), cubes.owner], doubled, np.ones(len(held)))

    def optimal(self, boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: to the side on roll, which doubles where it may and gains by it, the other side answering."""
        return best_of(self.equities(boards, cubes), cubes.may_double())

    def _held(self, boards: Boards) -> NDArray[np.float64]:
        boards = checked(boards)
        places = self._places(boards)
        unknown = np.flatnonzero((places < 0).any(axis=1))
        if len(unknown):
            fewer = f" (or at most {self.pips} pips to go and {WITHOUT_GAMMONS} checkers)" if self.pips else ""
            raise RaccoonError(
                f"the board {boards[unknown[0]].tolist()} is not in the cubeful bear-off table: it takes unfinished games with "
                f"at most {self.checkers} checkers a side{fewer}, all at home"
            )
        return self._table[places[:, 0], places[:, 1]].astype(np.float64)

    def _places(self, boards: Boards) -> NDArray[np.int64]:
        """``int64[N, 2]``: row and column of the table, -1 where it has none."""
        places = np.full((len(boards), 2), -1)
        near = np.flatnonzero(within(boards, WITHOUT_GAMMONS))
        for place, slot in enumerate((1, 0)):
            places[near, place] = self._row[rank(boards[near, slot, :6])]
        return places


def table_name(checkers: int, pips: int = 0) -> str:
    """What the table is called among the files of ``raccoon.engine.exact_bearoff.table_files``."""
    return f"cubeful-{checkers}" + (f"-{pips}" if pips else "")


def last_rolls(boards: Boards) -> tuple[CubefulBearoff, NDArray[np.int64]] | None:
    """The table that players use and the ``boards`` in it (``int64[K]``, K >= 1); None where there are none.

    The table is neither read nor built before there is a board that it may hold.
    """
    near = np.flatnonzero(within(boards, WITHOUT_GAMMONS))
    if len(near) == 0:
        return None
    table = CubefulBearoff(*LAST_ROLLS)
    rows = near[table.knows(boards[near])]
    return (table, rows) if len(rows) else None


@lru_cache(maxsize=2)
def _rows(checkers: int, pips: int) -> NDArray[np.int64]:
    """The place in the table of each position with at most 14 checkers, by number; -1 where it has none."""
    numbers = members(checkers, pips)
    rows = np.full(count(WITHOUT_GAMMONS), -1)
    rows[numbers] = np.arange(len(numbers))
    return rows


@lru_cache(maxsize=2)
def _table(checkers: int, pips: int = 0) -> NDArray[np.float32]:
    size = len(members(checkers, pips))
    return load_or_build(table_name(checkers, pips), (size, size, len(COLUMNS)), lambda: cubeful(checkers, pips))

"""Exact cubeful equities where both sides have few checkers left, all of them at home: truth to measure a cube model by."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, Cubes, RaccoonError
from raccoon.cube.bearoff_tables import COLUMNS, cubeful
from raccoon.cube.choice import OWNERS, best_of, with_beavers
from raccoon.cube.janowski import CubeEquities
from raccoon.engine.base import checked
from raccoon.engine.bearoff import within
from raccoon.engine.bearoff_files import kept
from raccoon.engine.bearoff_tables import count, rank

__all__ = ["MOST", "CubefulBearoff", "table_name"]

MOST = 8
"""Checkers a side of the largest table; while it is built it takes 290 MB."""
_COLUMN = {OWNED: COLUMNS.index("owned"), CENTRED: COLUMNS.index("centred"), OPPONENT: COLUMNS.index("theirs")}


class CubefulBearoff:
    """Money equities for perfect play and perfect doubling by both sides, with at most ``checkers`` (1 to 8) a side, all at home.

    Redoubles are without limit (``cubes.rules.cap`` is not looked at) and no gammon is possible, so that the Jacoby rule has no
    effect. The table is built once (6 checkers: seconds, 14 MB; 8: ten seconds, 144 MB) and kept with the other
    bear-off tables. Methods raise RaccoonError for a position that is not in the table (ask ``knows`` first) and for match play.
    """

    def __init__(self, checkers: int = 6) -> None:
        if isinstance(checkers, bool) or checkers not in range(1, MOST + 1):
            raise RaccoonError(f"checkers={quoted(checkers)}: the cubeful bear-off table takes 1 to {MOST}")
        self.checkers = int(checkers)
        self._table = _table(self.checkers)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.checkers,)

    def knows(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: is the board in the table? Finished games are not."""
        return within(checked(boards), self.checkers)

    def cubeless(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]``: points to the side on roll without a cube: twice its winning chance, minus 1."""
        return self._held(boards)[:, COLUMNS.index("cubeless")]

    def no_double(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N, 3]``: equity of not doubling now with the cube of each of ``raccoon.cube.model.OWNERS``."""
        return self._held(boards)[:, [_COLUMN[owner] for owner in OWNERS]]

    def equities(self, boards: Boards, cubes: Cubes) -> CubeEquities:
        """``(nd, dt, dp)`` to the side on roll, in points per unit of the cube before doubling; who may double is not asked."""
        if cubes.away is not None:
            raise RaccoonError("cubes.away: the cubeful bear-off table is for money play; use the model in matches")
        held = self._held(boards)
        columns = np.array([_COLUMN[owner] for owner in OWNERS])[cubes.owner]  # 0, 1, -1 index themselves
        doubled = with_beavers(2.0 * held[:, _COLUMN[OPPONENT]], cubes)
        return CubeEquities(held[np.arange(len(held)), columns], doubled, np.ones(len(held)))

    def optimal(self, boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: to the side on roll, which doubles where it may and gains by it, the other side answering."""
        return best_of(self.equities(boards, cubes), cubes.may_double())

    def _held(self, boards: Boards) -> NDArray[np.float64]:
        boards = checked(boards)
        unknown = np.flatnonzero(~within(boards, self.checkers))
        if len(unknown):
            raise RaccoonError(
                f"the board {boards[unknown[0]].tolist()} is not in the cubeful bear-off table: it takes unfinished games with "
                f"at most {self.checkers} checkers a side, all at home"
            )
        return self._table[rank(boards[:, 1, :6]), rank(boards[:, 0, :6])].astype(np.float64)


def table_name(checkers: int) -> str:
    """What the table is called among the files of ``raccoon.engine.bearoff_files``."""
    return f"cubeful-{checkers}"


@lru_cache(maxsize=2)
def _table(checkers: int) -> NDArray[np.float32]:
    size = count(checkers)
    return kept(table_name(checkers), (size, size, len(COLUMNS)), lambda: cubeful(checkers))

"""Bear-off tables as an engine: exact where both sides have few checkers left, all of them at home."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase, checked
from raccoon.engine.exact_bearoff.table_files import load_or_build
from raccoon.engine.exact_bearoff.tables import MAX_ROLLS, count, one_sided, rank, two_sided
from raccoon.env.board import terminal_points

__all__ = ["BearoffEngine", "within"]

_MOST_TWO_SIDED = 8
_MOST_ONE_SIDED = 14
"""A side with all 15 checkers can still lose a gammon, which the tables do not count."""


class BearoffEngine(EngineBase):
    """P(win) from tables; no gammon is possible in them, so probs6 is (p, 0, 0, 1 - p, 0, 0).

    The two-sided table holds every position in which both sides have at most ``checkers`` (1 to 8) checkers, all at
    home: exact for perfect play. ``one_sided=True`` adds the positions with at most 14 checkers a side, all at home,
    from exact distributions of the rolls each side needs when it plays to finish soonest *on average*; against the
    two-sided table that is off by .0009 on average and .014 at worst, because it ignores the race's standing.

    Tables are built once, in seconds, and kept in ``table_files.cache_folder()``. ``value`` and ``probs6`` raise RaccoonError for
    a position that is not in them: ask ``knows`` first, or use ``CompositeEngine``.
    """

    def __init__(self, checkers: int = 6, one_sided: bool = False, name: str | None = None) -> None:
        if isinstance(checkers, bool) or checkers not in range(1, _MOST_TWO_SIDED + 1):
            raise RaccoonError(f"engine.checkers={quoted(checkers)}: the two-sided table takes 1 to {_MOST_TWO_SIDED}")
        super().__init__(name or "bearoff")
        self.checkers = checkers
        self.one_sided = one_sided
        self._wins = _two_sided(checkers)
        self._rolls = _one_sided() if one_sided else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.checkers, self.one_sided, self.name)

    def knows(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: can this engine value the board? Finished boards always; see the class for the rest."""
        boards = checked(boards)
        most = _MOST_ONE_SIDED if self.one_sided else self.checkers
        return within(boards, most) | (terminal_points(boards) != 0)

    def exact(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: is the value exact (finished, or in the two-sided table)?"""
        boards = checked(boards)
        return within(boards, self.checkers) | (terminal_points(boards) != 0)

    def _probs6(self, live: Boards) -> NDArray[np.float64]:
        probs = np.zeros((len(live), 6))
        probs[:, 0] = self._win(live)
        probs[:, 3] = 1.0 - probs[:, 0]
        return probs

    def _win(self, live: Boards) -> NDArray[np.float64]:
        exact = within(live, self.checkers)
        unknown = ~exact if self._rolls is None else ~within(live, _MOST_ONE_SIDED)
        if unknown.any():
            raise RaccoonError(
                f"engine {self.name}: the board {live[np.flatnonzero(unknown)[0]].tolist()} is in no table; "
                "use engine=composite, which asks another engine there"
            )
        mine, other = rank(live[:, 1, :6]), rank(live[:, 0, :6])
        win = np.empty(len(live))
        win[exact] = self._wins[mine[exact], other[exact]]
        rest = ~exact
        if self._rolls is not None and rest.any():
            # I win when I need n rolls and the other side, which rolls after me, has not finished in n - 1
            finished = np.cumsum(self._rolls[other[rest]], axis=1, dtype=np.float64)
            later = 1.0 - np.concatenate([np.zeros((len(finished), 1)), finished[:, :-1]], axis=1)
            win[rest] = (self._rolls[mine[rest]] * later).sum(axis=1)
        return np.clip(win, 0.0, 1.0)


def within(boards: Boards, most: int) -> NDArray[np.bool_]:
    """``bool[N]``: game not over, all checkers of both sides at home, at most ``most`` of them a side."""
    at_home = ~boards[:, :, 6:].any(axis=(1, 2))
    left = boards[:, :, :6].sum(axis=2)
    return at_home & (left <= most).all(axis=1) & (left > 0).all(axis=1)


@lru_cache(maxsize=2)
def _two_sided(checkers: int) -> NDArray[np.float32]:
    size = count(checkers)
    return load_or_build(f"two-sided-{checkers}", (size, size), lambda: two_sided(checkers))


@lru_cache(maxsize=1)
def _one_sided() -> NDArray[np.float32]:
    return load_or_build("one-sided-15", (count(15), MAX_ROLLS), one_sided)

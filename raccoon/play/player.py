"""A player that puts an engine and a search together: it plays the child of the highest value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Engine, RaccoonError, Search, Turns
from raccoon.search.lookahead import StaticSearch

__all__ = ["EnginePlayer", "best_children"]


def best_children(values: NDArray[np.float64], full: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[N]``: index within its row of the highest ``values float64[M]`` among ``full bool[M]``; the first wins a tie.

    Raises RaccoonError when a value is not a number or a row has no full child.
    """
    if np.isnan(values).any():
        raise RaccoonError("a value is not a number; check the engine's weights")
    masked = np.where(full, values, -np.inf)
    best = np.maximum.reduceat(masked, offsets[:-1])
    if np.isneginf(best).any():
        raise RaccoonError(f"row {int(np.argmin(best))}: no child was searched to full depth")
    hits = np.flatnonzero(masked == np.repeat(best, np.diff(offsets)))
    return hits[np.searchsorted(hits, offsets[:-1])] - offsets[:-1]


class EnginePlayer:
    """Engine + search. The best child is taken over all children searched to full depth; ties go to the first child,
    and children come in position-key order, so the choice is the same everywhere.

    ``checkpoint`` is where configs put a path for the engine to refer to; it has no other effect. Games are played
    without a cube: ``double`` is never, ``take`` always.
    """

    def __init__(self, engine: Engine, search: Search | None = None, name: str | None = None, checkpoint: str | None = None) -> None:
        self.engine = engine
        self.search: Search = StaticSearch() if search is None else search
        self.checkpoint = checkpoint
        self.name = name or (engine.name if self.search.name == "static" else f"{engine.name}+{self.search.name}")

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """See ``Player.choose``. Raises RaccoonError naming the player when the values are unusable."""
        result = self.search.values(turns, self.engine)
        try:
            return best_children(result.values, result.full, turns.offsets)
        except RaccoonError as error:
            raise RaccoonError(f"player {self.name}: {error}") from error

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """Never: this player plays without a cube."""
        return np.zeros(len(boards), bool)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """Always."""
        return np.ones(len(boards), bool)

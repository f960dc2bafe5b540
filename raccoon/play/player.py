"""A player that puts an engine, a search and a cube model together: it plays the child of the highest value."""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, CubeEquities, CubefulSearch, CubeModel, Cubes, Engine, RaccoonError, Search, Turns
from raccoon.cube.choice import should_double, should_take
from raccoon.cube.model import Janowski
from raccoon.env import ragged
from raccoon.search.lookahead import StaticSearch

__all__ = ["EnginePlayer", "best_children"]


def best_children(values: NDArray[np.float64], full: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[N]``: index within its row of the highest ``values float64[M]`` among ``full bool[M]``; the first wins a tie.

    Raises RaccoonError when a value is not a number or a row has no full child.
    """
    if np.isnan(values).any():
        raise RaccoonError("a value is not a number; check the engine's weights")
    masked = np.where(full, values, -np.inf)
    best = ragged.row_max(masked, offsets)
    if np.isneginf(best).any():
        raise RaccoonError(f"row {int(np.argmin(best))}: no child was searched to full depth")
    return ragged.first_where(masked == ragged.spread(best, offsets), offsets) - offsets[:-1]


class EnginePlayer:
    """Engine + search + cube model. The best child is taken over all children searched to full depth; ties go to the first
    child, and children come in position-key order, so the choice is the same everywhere.

    Where no cube is in play (``cubes.rules`` is None) plays are ranked by cubeless value. With a live cube the ``cube`` model
    (None: Janowski's with the published indices) ranks plays, doubles and answers; it needs an engine that knows the outcome
    distribution and a search that can read it. ``checkpoint`` is where configs put the path of the networks in the engine; it has
    no other effect.
    """

    def __init__(
        self,
        engine: Engine,
        search: Search | None = None,
        name: str | None = None,
        checkpoint: str | None = None,
        cube: CubeModel | None = None,
    ) -> None:
        self.engine = engine
        self.search: Search = StaticSearch() if search is None else search
        for key, part, method in (("engine", engine, "value"), ("search", self.search, "values")):
            if not (hasattr(part, method) and hasattr(part, "name")):
                raise RaccoonError(f"player.{key}={quoted(part)}: is no {key}; give an option of the group {key}")
        self.checkpoint = checkpoint
        self.cube: CubeModel = Janowski() if cube is None else cube
        if not isinstance(self.cube, CubeModel):
            raise RaccoonError(
                f"player.cube={quoted(cube)}: is no cube model (see raccoon.contracts.CubeModel); give an option of the group cube"
            )
        self.name = name or (engine.name if self.search.name == "static" else f"{engine.name}+{self.search.name}") + self.cube.suffix

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """See ``Player.choose``. Raises RaccoonError naming the player when the values are unusable."""
        if self.cubeful(turns.cubes):
            result = self._cubeful().cubeful(turns, self.engine, self.cube)
        else:
            result = self.search.values(turns, self.engine)
        try:
            return best_children(result.values, result.full, turns.offsets)
        except RaccoonError as error:
            raise RaccoonError(f"player {self.name}: {error}") from error

    def cubeful(self, cubes: Cubes) -> bool:
        """Does it rank plays by cubeful equity while these cubes are in play?"""
        return cubes.rules is not None and self.cube.moves == "cubeful"

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """When doubling is worth more than waiting, the other side answering as is best for it."""
        allowed = cubes.may_double()
        if not self.cube.doubles or not allowed.any():
            return np.zeros(len(boards), bool)
        allowed[allowed] = should_double(self._equities(boards[allowed], cubes.take(allowed)))
        return allowed

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """When that costs less than dropping."""
        if not self.cube.doubles or cubes.rules is None or len(boards) == 0:
            return np.ones(len(boards), bool)
        return should_take(self._equities(boards, cubes))

    def beaver(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """When the taker is the favourite with the cube on its side."""
        if not self.cube.doubles or cubes.rules is None or len(boards) == 0:
            return np.zeros(len(boards), bool)
        return cubes.may_beaver() & (self._equities(boards, cubes).dt < 0)

    def _equities(self, boards: Boards, cubes: Cubes) -> CubeEquities:
        return self._cubeful().cube_equities(boards, cubes, self.engine, self.cube)

    def _cubeful(self) -> CubefulSearch:
        if not isinstance(self.search, CubefulSearch):
            raise RaccoonError(
                f"player {self.name}: the search {self.search.name} cannot play with a live cube; use static, expectimax, pruned or mcts"
            )
        if not self.engine.has_probs:
            raise RaccoonError(
                f"player {self.name}: the engine {self.engine.name} knows equities only, as a network with model/head=scalar does, and "
                "the cube needs the six outcome chances; use one with model/head=outcomes6 or another engine"
            )
        return self.search

"""Where a search takes the values of candidate plays from: cubeless or with a live cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Engine, Turns
from raccoon.search.cubeful import CubefulTree
from raccoon.search.lookahead import child_values, enumerate_leaves, static_cubeful
from raccoon.search.tree import Tree

__all__ = ["CandidateValues", "Cubeful", "Cubeless"]


class CandidateValues(Protocol):
    """Where the values of candidates come from: cubeless or with a live cube. Value scale, to the mover."""

    @property
    def engine(self) -> Engine:
        """What values the leaves."""
        ...

    def static(self, turns: Turns) -> NDArray[np.float64]:
        """``float64[M]`` of all children, no lookahead."""
        ...

    def deep(self, turns: Turns, part: NDArray[np.int64], rows: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
        """Of the children ``part``, which belong to ``rows``, at ``depth`` plies."""
        ...


@dataclass(frozen=True)
class Cubeless:
    """By the engine, without a cube."""

    engine: Engine
    tree: Tree

    def static(self, turns: Turns) -> NDArray[np.float64]:
        return child_values(turns, self.engine).values

    def deep(self, turns: Turns, part: NDArray[np.int64], rows: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
        leaves = enumerate_leaves(turns.children[part])
        return leaves.scatter(self.tree.values(leaves.boards, depth))


@dataclass(frozen=True)
class Cubeful:
    """By the engine and the cube model of ``tree``."""

    engine: Engine
    tree: CubefulTree

    def static(self, turns: Turns) -> NDArray[np.float64]:
        return static_cubeful(turns, self.engine, self.tree.model, options=True) / 3.0

    def deep(self, turns: Turns, part: NDArray[np.int64], rows: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
        return self.tree.candidates(turns.children[part], turns.cubes.take(rows).flipped(), depth) / 3.0

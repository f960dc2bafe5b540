"""The cube in trees of a Monte Carlo tree search: what a chance node is worth with it, and the turned node beside it.

Money and match play alike are priced by a ``CubeModel``, whose equities stand at the leaves of ``raccoon.search.cubeful`` as well.
Below them the sides double and answer as the tree itself finds best. Equities of a node are in units of its own cube.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, CubeModel, Cubes, Engine, ExactCubeModel
from raccoon.cube.choice import best_of
from raccoon.env.board import terminal_points
from raccoon.search.lookahead import cubeful_equities
from raccoon.search.mcts.nodes import EXACT, VALUED, Nodes, grown

__all__ = ["LiveCube", "known_exactly"]


def known_exactly(model: CubeModel, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
    """``bool[N]``: does the model know the equities of unfinished boards for certain, so that nothing grows below?"""
    return model.exact(boards) if cubes.away is None and isinstance(model, ExactCubeModel) else np.zeros(len(boards), bool)


@dataclass(frozen=True)
class LiveCube:
    """``cubes`` of the roots of T trees, seen from the side that acts there, and the ``model`` that prices them over ``engine``."""

    cubes: Cubes
    model: CubeModel
    engine: Engine

    def table(self) -> NDArray[np.int32]:
        """``int32[T, 4]``: the cubes of the roots as nodes have them."""
        rows = np.arange(len(self.cubes))
        return np.column_stack([self.cubes.value, self.cubes.owner, np.zeros_like(rows), rows]).astype(np.int32)

    def of(self, table: NDArray[np.int32]) -> Cubes:
        """The cubes ``int32[N, 4]`` of nodes, seen from the side that acts."""
        value, owner, other, tree = table.T
        root = self.cubes.take(tree)
        away = None if root.away is None else np.where(other[:, None] == 1, root.away[:, ::-1], root.away)
        return Cubes(value, owner.astype(np.int8), root.rules, away, root.crawford)

    def values(self, boards: Boards, above: NDArray[np.int32]) -> NDArray[np.float64]:
        """``float64[N]`` (value scale): static values to the mover of afterstates of decisions whose cubes are ``above int32[N, 4]``."""
        return cubeful_equities(boards, self.of(above).flipped(), self.engine, self.model, options=True) / 3.0

    def settle(self, nodes: Nodes, used: NDArray[np.int64], leaves: NDArray[np.int64]) -> Nodes:
        """Value the new chance nodes ``leaves``: finished games, and below a root what the model knows, exactly; the others as not
        doubled now, with a turned node beside those whose side may double. A root keeps its cube for now: nothing stands beside it."""
        boards, cubes = nodes.c_board[leaves], self.of(nodes.c_cube[leaves])
        points = terminal_points(boards)
        nodes.c_value[leaves] = self.model.finished(points.astype(np.float64), cubes) / 3.0
        nodes.c_state[leaves] = EXACT
        live = np.flatnonzero(points == 0)
        if len(live) == 0:
            return nodes
        boards, cubes, leaves = boards[live], cubes.take(live), leaves[live]
        inner = nodes.c_parent[leaves] >= 0
        probs6 = np.asarray(self.engine.probs6(boards), np.float64)
        equities = self.model.equities(probs6, boards, cubes)
        may = cubes.may_double()
        exact = known_exactly(self.model, boards, cubes) & inner
        nodes.c_value[leaves] = np.where(exact, best_of(equities, may), equities.nd) / 3.0
        nodes.c_state[leaves] = np.where(exact, EXACT, VALUED)
        asked = np.flatnonzero(may & inner & ~exact)
        return self._turned(nodes, used, leaves[asked], probs6[asked], cubes.take(asked), equities.dp[asked])

    def _turned(
        self,
        nodes: Nodes,
        used: NDArray[np.int64],
        beside: NDArray[np.int64],
        probs6: NDArray[np.float64],
        cubes: Cubes,
        passed: NDArray[np.float64],
    ) -> Nodes:
        """A turned node beside each of ``beside``, which counts as visited once, with the model's equity."""
        count, start = len(beside), int(used[0])
        nodes, taken, boards = grown(nodes, used, (count, 0, 0)), cubes.taken(), nodes.c_board[beside]
        new = np.arange(start, start + count)
        used[0] += count
        nodes.c_board[new], nodes.c_above[new] = boards, beside
        nodes.c_turned[beside] = new
        nodes.c_cube[new] = np.column_stack([taken.value, taken.owner, nodes.c_cube[beside, 2:]])
        nodes.c_value[new] = nodes.c_value_sum[new] = self.model.no_double(probs6, boards, taken) / 3.0
        nodes.c_visits[new], nodes.c_state[new] = 1, VALUED
        nodes.c_stake[new] = 2.0 if cubes.away is None else 1.0  # match equities are of the match, whatever the cube
        nodes.c_pass[new], nodes.c_beaver[new] = passed / 3.0, cubes.may_beaver()
        return nodes

"""Cubeful search: cube decisions at every node of an n-ply tree, in money and match play, a model at its leaves.

The equity of *not doubling now* at depth n is the mean over the 21 rolls of the best reply's equity, in which the side
then on roll doubles when it may and that is best for it, and the other side answers. Reply and cube decision depend on
where the cube is, so every board carries one equity for each place of it (``raccoon.cube.places``). Engine evaluations are
shared by them, and by rows at different scores. Boards whose equities the model knows exactly are not expanded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, CubeEquities, CubeModel, Cubes
from raccoon.cube.choice import best_of
from raccoon.cube.places import Places, places_of, told_apart
from raccoon.engine.rolls import roll_means
from raccoon.env import ragged
from raccoon.env.movegen import ROLLS
from raccoon.search.filters import keep_best
from raccoon.search.lookahead import Leaves, enumerate_leaves

if TYPE_CHECKING:
    from raccoon.search.tree import Tree

__all__ = ["CubefulTree"]


class CubefulTree:
    """Equities below boards with a live cube; ``tree`` says how wide, ``model`` prices the leaves.

    ``cubes.rules`` of the rows that ask decide about Jacoby and beavers. At a match score the cube ends where it is of no use or
    at the cap; in money play the cap is left out of the tree.
    """

    def __init__(self, tree: Tree, model: CubeModel) -> None:
        self.tree = tree
        self.model = model

    def equities(self, boards: Boards, cubes: Cubes, depth: int) -> CubeEquities:
        """``(nd, dt, dp)`` of unfinished pre-roll ``boards`` to the side on roll, at ``depth`` plies; see ``CubeModel.equities``."""
        if depth == 0:
            return self.model.equities(self.tree.chances(boards, 0), boards, cubes)
        places = places_of(self.model, cubes, np.unique(cubes.owner).tolist())
        return places.equities(self._held(boards, depth, places), cubes)

    def optimal(self, boards: Boards, cubes: Cubes, depth: int) -> NDArray[np.float64]:
        """``float64[N]``: to the side on roll, both sides doubling and answering as is best for them."""
        return best_of(self.equities(boards, cubes, depth), cubes.may_double())

    def candidates(self, children: Boards, cubes: Cubes, depth: int) -> NDArray[np.float64]:
        """``float64[M]``: equity to the mover of afterstates at ``depth`` plies below them; ``cubes`` of the side on roll in them."""
        leaves = enumerate_leaves(children)
        out = -self.model.finished(-3.0 * leaves.exact, cubes)
        live = np.flatnonzero(leaves.index >= 0)
        # the same board under two cubes is asked twice: a board that two rows share has the same owner nearly always
        distinct, inverse = np.unique(np.column_stack([leaves.index[live], told_apart(cubes.take(live))]), axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        first = np.empty(len(distinct), np.int64)
        first[inverse] = live
        out[live] = -self.optimal(children[first], cubes.take(first), depth)[inverse]
        return out

    def no_double(self, boards: Boards, depth: int, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N, 3]``: equity of not doubling now with each owner of ``OWNERS``, the value, score and rules those of ``cubes``."""
        places = places_of(self.model, cubes)
        return places.by_owner(self._held(boards, depth, places))

    def _held(self, boards: Boards, depth: int, places: Places) -> NDArray[np.float64]:
        """``float64[N, P]``: equity of not doubling now in each of ``places``."""
        if depth == 0 or len(boards) == 0:
            return places.leaves(self.tree.chances(boards, 0), boards)
        known = places.exact(boards)
        if known.any():
            static = self._held(boards[known], 0, places.take(known))
            out = np.empty((len(boards), static.shape[1]))
            out[known] = static
            if not known.all():
                out[~known] = self._held(boards[~known], depth, places.take(~known))
            return out
        starts = range(0, len(boards), self.tree.step)
        cut = [slice(start, start + self.tree.step) for start in starts]
        return np.concatenate([self._expectation(boards[rows], depth, places.take(rows)) for rows in cut])

    def _expectation(self, boards: Boards, depth: int, places: Places) -> NDArray[np.float64]:
        children, offsets = self.tree.children(boards)
        row = ragged.row_of(offsets[:: len(ROLLS)])
        leaves, below = enumerate_leaves(children), places.below()
        nodes = _Nodes.of(leaves, row, below.scores())
        under, finished = below.take(nodes.row), nodes.index < 0
        static = under.to_mover(under.leaves(self.tree.chances(leaves.boards, 0)[nodes.leaf], leaves.boards[nodes.leaf]))
        values = nodes.scatter(static, places.take(row[finished]).finished(3.0 * leaves.exact[finished]))
        if depth == 1:
            return _means(ragged.row_max(values, offsets))
        chosen = [keep_best(column, offsets, self.tree.width) for column in values.T]
        wanted = np.unique(np.concatenate([nodes.index[picked] for picked, _ in chosen]))
        wanted = wanted[wanted >= 0]
        part = below.take(nodes.row[wanted])
        deep = part.to_mover(self._held(leaves.boards[nodes.leaf[wanted]], depth - 1, part))
        best = [
            ragged.row_max(nodes.deeper(picked, values[picked, column], wanted, deep[:, column]), starts)
            for column, (picked, starts) in enumerate(chosen)
        ]
        return _means(np.stack(best, axis=1))


@dataclass(frozen=True)
class _Nodes:
    """Distinct boards with distinct scores: ``leaf int64[K]`` of ``Leaves.boards``, ``row int64[K]`` one of those that lead there,
    ``index int64[M]`` the node of each child, -1 where it is finished."""

    leaf: NDArray[np.int64]
    row: NDArray[np.int64]
    index: NDArray[np.int64]

    @classmethod
    def of(cls, leaves: Leaves, row: NDArray[np.int64], scores: NDArray[np.int64] | None) -> _Nodes:
        live = np.flatnonzero(leaves.index >= 0)
        index = np.full(len(leaves.index), -1, np.int64)
        keys = leaves.index[live] if scores is None else leaves.index[live] * len(scores) + scores[row[live]]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        index[live] = inverse
        return cls(leaves.index[live][first], row[live][first], index)

    def scatter(self, values: NDArray[np.float64], finished: NDArray[np.float64]) -> NDArray[np.float64]:
        """``float64[M, P]``: for each child the row of its node in ``values [K, P]``; for finished children those of ``finished``."""
        live = self.index >= 0
        out = np.empty((len(self.index), values.shape[1]))
        out[live], out[~live] = values[self.index[live]], finished
        return out

    def deeper(
        self, picked: NDArray[np.int64], static: NDArray[np.float64], wanted: NDArray[np.int64], deep: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``float64[L]``: for the children ``picked [L]`` the equities ``deep [W]`` of their nodes ``wanted int64[W]`` (ascending);
        finished children keep their ``static [L]`` one."""
        index, out = self.index[picked], static.copy()
        live = index >= 0
        out[live] = deep[np.searchsorted(wanted, index[live])]
        return out


def _means(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """``[N, P]`` means over the rolls of ``[21 N, P]``."""
    places = best.shape[1]
    rolls = best.reshape(-1, len(ROLLS), places).transpose(0, 2, 1).reshape(-1, len(ROLLS))
    return roll_means(rolls).reshape(-1, places)

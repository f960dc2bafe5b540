"""Cubeful search: cube decisions at every node of an n-ply tree, Janowski's closed form at its leaves.

The equity of *not doubling now* at depth n is the mean over the 21 rolls of the best reply's equity, in which the side
then on roll doubles when that is best for it and the other side answers. Reply and cube decision depend on who owns
the cube, so every board carries three equities (centred, owned by the side on roll, by the other side), all in points
per unit of the cube; a taken double is twice the third. Engine evaluations are shared by the three.

In match play a tree of outcome chances (as in cubeless search) goes to depth n and the closed form is applied at its root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, Boards, CubeEquities, CubeModel, Cubes
from raccoon.cube.model import OWNERS, best_of, with_beavers
from raccoon.engine.rolls import roll_means
from raccoon.env.movegen import ROLLS
from raccoon.search.filters import keep_best
from raccoon.search.lookahead import enumerate_leaves

if TYPE_CHECKING:
    from raccoon.search.tree import Tree

__all__ = ["CubefulTree"]

_CENTRED, _THEIRS = OWNERS.index(CENTRED), OWNERS.index(OPPONENT)
_FLIPPED = [OWNERS.index(-owner) for owner in OWNERS]


class CubefulTree:
    """Equities below boards with a live cube, in money play; ``tree`` says how wide, ``model`` prices the leaves.

    ``cubes.rules`` of the rows that ask decide about Jacoby and beavers. The cap is left out of the tree.
    """

    def __init__(self, tree: Tree, model: CubeModel) -> None:
        self.tree = tree
        self.model = model

    def equities(self, boards: Boards, cubes: Cubes, depth: int) -> CubeEquities:
        """``(nd, dt, dp)`` of unfinished pre-roll ``boards`` to the side on roll, at ``depth`` plies; see ``CubeModel.equities``."""
        if depth == 0 or cubes.away is not None:
            return self.model.equities(self.tree.chances(boards, depth), boards, cubes)
        by_owner = self.no_double(boards, depth, cubes)
        now = by_owner[np.arange(len(boards)), cubes.owner]  # 0, 1 and -1 are their own columns
        return CubeEquities(now, with_beavers(2.0 * by_owner[:, _THEIRS], cubes), np.ones(len(boards)))

    def optimal(self, boards: Boards, cubes: Cubes, depth: int) -> NDArray[np.float64]:
        """``float64[N]``: to the side on roll, both sides doubling and answering as is best for them."""
        return best_of(self.equities(boards, cubes, depth), cubes.may_double())

    def candidates(self, children: Boards, cubes: Cubes, depth: int) -> NDArray[np.float64]:
        """``float64[M]``: equity to the mover of afterstates at ``depth`` plies below them; ``cubes`` of the side on roll in them."""
        leaves = enumerate_leaves(children)
        out = -self.model.finished(-3.0 * leaves.exact, cubes)
        live = np.flatnonzero(leaves.index >= 0)
        # the same board under two cubes is asked twice: a board that two rows share has the same owner nearly always
        asked, inverse = np.unique(np.column_stack([leaves.index[live], _told_apart(cubes.take(live))]), axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        first = np.empty(len(asked), np.int64)
        first[inverse] = live
        out[live] = -self.optimal(children[first], cubes.take(first), depth)[inverse]
        return out

    def no_double(self, boards: Boards, depth: int, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N, 3]``: equity of not doubling now with each owner of ``OWNERS``, under the rules of ``cubes``."""
        jacoby = cubes.rules is not None and cubes.rules.jacoby
        if depth == 0 or len(boards) == 0:
            return self.model.by_owner(self.tree.chances(boards, 0), boards, jacoby)
        step = self.tree.step
        parts = [self._expectation(boards[start : start + step], depth, cubes) for start in range(0, len(boards), step)]
        return np.concatenate(parts)

    def _expectation(self, boards: Boards, depth: int, cubes: Cubes) -> NDArray[np.float64]:
        children, offsets = self.tree.children(boards)
        leaves = enumerate_leaves(children)
        exact = np.stack([3.0 * leaves.exact] * 3, axis=1)
        if cubes.rules is not None and cubes.rules.jacoby:
            exact[:, _CENTRED] = np.sign(exact[:, _CENTRED])
        live = leaves.index >= 0
        values = exact.copy()
        values[live] = self._to_mover(self.no_double(leaves.boards, 0, cubes), cubes)[leaves.index[live]]
        if depth == 1:
            return _means(np.maximum.reduceat(values, offsets[:-1]))
        chosen = [keep_best(values[:, column], offsets, self.tree.width) for column in range(3)]
        wanted = np.unique(np.concatenate([leaves.index[picked][leaves.index[picked] >= 0] for picked, _ in chosen]))
        deep = self._to_mover(self.no_double(leaves.boards[wanted], depth - 1, cubes), cubes)
        best = np.empty((len(offsets) - 1, 3))
        for column, (picked, starts) in enumerate(chosen):
            found = exact[picked, column]
            below = leaves.index[picked] >= 0
            found[below] = deep[np.searchsorted(wanted, leaves.index[picked[below]]), column]
            best[:, column] = np.maximum.reduceat(found, starts[:-1])
        return _means(best)

    @staticmethod
    def _to_mover(no_double: NDArray[np.float64], cubes: Cubes) -> NDArray[np.float64]:
        """``[U, 3]`` equities of children to the mover, by who owns the cube in *its* eyes; the side on roll doubles at will."""
        unlimited = Cubes.centred(len(no_double), cubes.rules)
        doubled = np.minimum(with_beavers(2.0 * no_double[:, _THEIRS], unlimited), 1.0)
        value = np.maximum(no_double, doubled[:, None])
        value[:, _THEIRS] = no_double[:, _THEIRS]  # the other side's cube: no double to make
        return -value[:, _FLIPPED]


def _told_apart(cubes: Cubes) -> NDArray[np.int64]:
    """``int64[N, K]``: all that tells the cubes of two rows apart."""
    columns = [cubes.value, cubes.owner]
    if cubes.away is not None:
        columns += [cubes.away[:, 0], cubes.away[:, 1]]
    if cubes.crawford is not None:
        columns.append(cubes.crawford)
    return np.stack(columns, axis=1).astype(np.int64)


def _means(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """``[N, 3]`` means over the rolls of ``[21 N, 3]``."""
    rolls = best.reshape(-1, len(ROLLS), 3).transpose(0, 2, 1).reshape(-1, len(ROLLS))
    return roll_means(rolls).reshape(-1, 3)

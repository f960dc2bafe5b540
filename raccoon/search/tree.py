"""What lies below a board: the n-ply tree of expectimax, all its boards at once, each level a few large batches.

See ``raccoon.search.expectimax`` for what is computed. A reply batch and a leaf batch are the same batch at the last level.
Finished boards, and those that the engine knows exactly (``knows``), are not expanded. No value depends on the batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine, KnowingEngine
from raccoon.engine.outcomes import exact_probs6, flip
from raccoon.engine.rolls import roll_means
from raccoon.env import ragged
from raccoon.env.board import terminal_points
from raccoon.env.movegen import ROLLS, afterstates_all_rolls
from raccoon.search.filters import keep_best
from raccoon.search.lookahead import Leaves, enumerate_leaves, leaf_values

__all__ = ["Opponent", "Tree"]

Opponent = Literal["greedy", "full"]
_CHILDREN = 294  # of a board over all rolls, about; to size batches
_Floats = NDArray[np.float64]
_Static = Callable[[Boards], NDArray[np.floating]]


@dataclass(frozen=True)
class Tree:
    """How to look below a board. ``replies``: candidates the ``full`` opponent looks below; ``prune``: a cheap engine that
    shortlists the ``shortlist`` best replies to each roll, so that ``engine`` sees only those; ``batch``: boards that one
    engine call gets, about. Within one call of ``values`` each level is one batch of distinct boards, unless it is more than
    eight times as large."""

    engine: Engine
    opponent: Opponent = "greedy"
    replies: int = 4
    prune: Engine | None = None
    shortlist: int = 5
    batch: int = 1 << 16

    def roots(self, depth: int) -> int:
        """How many boards at ``depth`` make a last level of about ``batch`` boards; at least 1."""
        return max(1, self.batch // (_CHILDREN * (len(ROLLS) * self.width) ** (depth - 1))) if depth else self.batch

    @property
    def width(self) -> int:
        """How many replies to a roll are looked below."""
        return 1 if self.opponent == "greedy" else self.replies

    @property
    def step(self) -> int:
        """How many boards are expanded at a time, to bound the memory."""
        return max(1, 8 * self.batch // _CHILDREN)

    def values(self, boards: Boards, depth: int) -> NDArray[np.float64]:
        """``float64[N]``: ``E_depth`` (value scale, side on roll) of distinct, unfinished ``boards int8[N, 2, 25]``."""
        if len(boards) == 0:
            return np.zeros(0)
        return self._below(boards, depth, self.engine.value, self._expectation)

    def chances(self, boards: Boards, depth: int) -> NDArray[np.float64]:
        """``float64[N, 6]``: outcome distribution behind ``values(boards, depth)``: that of the same replies, averaged the same way.

        Boards as for ``values``. Raises RaccoonError when the engine only knows scalars.
        """
        if len(boards) == 0:
            return np.zeros((0, 6))
        return self._below(boards, depth, self.engine.probs6, self._distribution)

    def _below(self, boards: Boards, depth: int, static: _Static, expanded: Callable[[Boards, int], _Floats]) -> _Floats:
        """What ``static`` says of the boards that the engine knows exactly (at depth 0: of all), and ``expanded`` of the others, a
        ``step`` at a time."""
        known = np.full(len(boards), depth == 0)
        if depth and isinstance(self.engine, KnowingEngine):
            known = np.asarray(self.engine.knows(boards), bool)
        if known.all():
            return np.asarray(static(boards), np.float64)
        rest, step = boards[~known], self.step
        deep = np.concatenate([expanded(rest[start : start + step], depth) for start in range(0, len(rest), step)])
        if not known.any():
            return deep
        out = np.empty((len(boards), *deep.shape[1:]))
        out[known], out[~known] = static(boards[known]), deep
        return out

    def children(self, boards: Boards) -> tuple[Boards, NDArray[np.int64]]:
        """Afterstates of every board and roll, those that pruning leaves: ``(int8[M, 2, 25], offsets int64[21 N + 1])``."""
        children, offsets = afterstates_all_rolls(boards)
        if self.prune is not None:
            children, offsets = _shortlisted(children, offsets, self.prune, self.shortlist)
        return children, offsets

    def _replies(self, boards: Boards) -> tuple[Boards, Leaves, NDArray[np.float64], NDArray[np.int64]]:
        """Children of every board and roll (those that pruning leaves), their leaves, their static values, offsets by roll."""
        children, offsets = self.children(boards)
        leaves = enumerate_leaves(children)
        return children, leaves, leaf_values(leaves, self.engine), offsets

    def _expectation(self, boards: Boards, depth: int) -> _Floats:
        _, leaves, static, offsets = self._replies(boards)
        if depth == 1:
            best = ragged.row_max(static, offsets)
            return roll_means(best.reshape(-1, len(ROLLS)))
        chosen, starts = keep_best(static, offsets, self.width)
        best = ragged.row_max(self._deeper(leaves, static, chosen, depth), starts)
        return roll_means(best.reshape(-1, len(ROLLS)))

    def _distribution(self, boards: Boards, depth: int) -> _Floats:
        children, leaves, static, offsets = self._replies(boards)
        chosen, starts = keep_best(static, offsets, self.width if depth > 1 else 1)
        if len(chosen) > len(offsets) - 1:
            chosen = chosen[keep_best(self._deeper(leaves, static, chosen, depth), starts, 1)[0]]
        out = exact_probs6(terminal_points(children[chosen])).astype(np.float64)
        live = leaves.index[chosen] >= 0
        distinct, inverse = np.unique(leaves.index[chosen[live]], return_inverse=True)
        out[live] = self.chances(leaves.boards[distinct], depth - 1)[inverse]
        by_roll = flip(out).reshape(-1, len(ROLLS), 6).transpose(0, 2, 1)
        return roll_means(by_roll.reshape(-1, len(ROLLS))).reshape(-1, 6)

    def _deeper(self, leaves: Leaves, static: _Floats, chosen: NDArray[np.int64], depth: int) -> _Floats:
        """Values to the mover of the replies ``chosen``, looked below; finished ones keep their exact (``static``) value."""
        values = static[chosen]
        live = leaves.index[chosen] >= 0
        distinct, inverse = np.unique(leaves.index[chosen[live]], return_inverse=True)
        values[live] = -self.values(leaves.boards[distinct], depth - 1)[inverse]
        return values


def _shortlisted(children: Boards, offsets: NDArray[np.int64], engine: Engine, k: int) -> tuple[Boards, NDArray[np.int64]]:
    """The ``k`` best children of each row by ``engine``, in their order."""
    kept, starts = keep_best(leaf_values(enumerate_leaves(children), engine), offsets, k)
    return children[kept], starts

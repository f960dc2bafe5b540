"""Filtered expectimax, batched: GNUBG's n-ply search with our filters, over any engine.

The value of a pre-roll board at depth n to the side on roll, ``E_n``, is the mean over the 21 rolls of its best reply,
``-E_(n-1)`` of the afterstate; ``E_0`` is the engine's. A candidate play is worth ``-E_n`` of its afterstate. The
``greedy`` opponent fixes each reply by static value and looks deeper only below it (that is GNUBG's search); the
``full`` one looks below its ``replies`` best and takes the maximum.

All decisions that wait are searched together and every level of the trees is a few large batches of distinct boards. A
reply batch and a leaf batch are the same batch at the last level. Finished boards, and those that the engine knows
exactly (``knows``), are not expanded. Nothing is sampled, and no value depends on the batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import number, whole
from raccoon.contracts import Boards, CubeEquities, CubeModel, Cubes, Engine, RaccoonError, SearchResult, Turns
from raccoon.cube.cubeful import CubefulTree
from raccoon.engine.base import checked
from raccoon.engine.outcomes import FLIPPED, exact_probs6
from raccoon.engine.rolls import roll_means
from raccoon.env.board import terminal_points
from raccoon.env.movegen import ROLLS, afterstates_all_rolls
from raccoon.search.filters import Filter, keep_best
from raccoon.search.lookahead import Leaves, child_values, enumerate_leaves, leaf_values, static_cubeful, terminal_value

__all__ = ["Expectimax", "Opponent", "Tree", "equities"]

Opponent = Literal["greedy", "full"]
_MOST_PLY = 3
_CHILDREN = 294  # of a board over all rolls, about; to size batches


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
        width = len(ROLLS) * (1 if self.opponent == "greedy" else self.replies)
        return max(1, self.batch // (_CHILDREN * width ** (depth - 1))) if depth else self.batch

    @property
    def step(self) -> int:
        """How many boards are expanded at a time, to bound the memory."""
        return max(1, 8 * self.batch // _CHILDREN)

    def values(self, boards: Boards, depth: int) -> NDArray[np.float64]:
        """``float64[N]``: ``E_depth`` (value scale, side on roll) of distinct, unfinished ``boards int8[N, 2, 25]``."""
        if depth == 0 or len(boards) == 0:
            return np.asarray(self.engine.value(boards), np.float64) if len(boards) else np.zeros(0)
        knows = getattr(self.engine, "knows", None)
        if knows is None:
            return self._expanded(boards, depth)
        known = np.asarray(knows(boards), bool)
        out = np.empty(len(boards))
        out[known] = self.engine.value(boards[known]) if known.any() else 0.0
        out[~known] = self._expanded(boards[~known], depth)
        return out

    def _expanded(self, boards: Boards, depth: int) -> NDArray[np.float64]:
        step = self.step
        parts = [self._expectation(boards[start : start + step], depth) for start in range(0, len(boards), step)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def chances(self, boards: Boards, depth: int) -> NDArray[np.float64]:
        """``float64[N, 6]``: outcome distribution behind ``values(boards, depth)``: that of the same replies, averaged the same way.

        Boards as for ``values``. Raises RaccoonError when the engine only knows scalars.
        """
        if depth == 0 or len(boards) == 0:
            return np.asarray(self.engine.probs6(boards), np.float64) if len(boards) else np.zeros((0, 6))
        children, leaves, static, offsets = self._replies(boards)
        chosen, starts = keep_best(static, offsets, 1 if self.opponent == "greedy" or depth == 1 else self.replies)
        if len(chosen) > len(offsets) - 1:
            deep = leaves.index[chosen] >= 0
            values = static[chosen]
            values[deep] = -self.values(children[chosen[deep]], depth - 1)
            chosen = chosen[keep_best(values, starts, 1)[0]]
        out = exact_probs6(terminal_points(children[chosen])).astype(np.float64)
        live = leaves.index[chosen] >= 0
        distinct, inverse = np.unique(leaves.index[chosen[live]], return_inverse=True)
        out[live] = self.chances(leaves.boards[distinct], depth - 1)[inverse]
        return roll_means(out[:, FLIPPED].reshape(-1, len(ROLLS), 6).transpose(0, 2, 1).reshape(-1, len(ROLLS))).reshape(-1, 6)

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

    def _expectation(self, boards: Boards, depth: int) -> NDArray[np.float64]:
        _, leaves, static, offsets = self._replies(boards)
        if depth == 1:
            best = np.maximum.reduceat(static, offsets[:-1])
            return roll_means(best.reshape(-1, len(ROLLS)))
        width = 1 if self.opponent == "greedy" else self.replies
        chosen, starts = keep_best(static, offsets, width)
        values = static[chosen]
        live = leaves.index[chosen] >= 0
        distinct, inverse = np.unique(leaves.index[chosen[live]], return_inverse=True)
        values[live] = -self.values(leaves.boards[distinct], depth - 1)[inverse]
        best = np.maximum.reduceat(values, starts[:-1])
        return roll_means(best.reshape(-1, len(ROLLS)))


def _shortlisted(children: Boards, offsets: NDArray[np.int64], engine: Engine, k: int) -> tuple[Boards, NDArray[np.int64]]:
    """The ``k`` best children of each row by ``engine``, in their order."""
    kept, starts = keep_best(leaf_values(enumerate_leaves(children), engine), offsets, k)
    return children[kept], starts


def equities(boards: ArrayLike, depth: int, engine: Engine) -> NDArray[np.float64]:
    """``float64[N]``: n-ply money points at cube 1 of pre-roll ``boards [N, 2, 25]`` to the side on roll.

    Full width with greedy replies; finished boards are exact. Equal to GNUBG's own n-ply over its 0-ply network.
    Raises RaccoonError for illegal boards or a negative depth.
    """
    array = checked(np.asarray(boards))
    depth = whole("depth", depth, 0)
    leaves = enumerate_leaves(array)
    tree = Tree(engine)
    step = tree.roots(depth)
    parts = [tree.values(leaves.boards[start : start + step], depth) for start in range(0, len(leaves.boards), step)]
    values = np.concatenate([*parts, np.zeros(1)])  # index -1 is the exact ones' place
    return 3.0 * np.where(leaves.index < 0, -leaves.exact, values[leaves.index])


class Expectimax:
    """Search to ``ply`` 0 to 3 (GNUBG's numbering) of the candidates that ``filter`` keeps; see the module docstring.

    ``opponent``, ``replies``, ``prune``, ``shortlist``, ``batch``: see ``Tree``. ``gate``: rows whose best static value
    leads the second by more than so many points are not searched (null: all are). ``bump``: where the search bumps the static
    leader from the first place, candidates that the filter left out and that are at most so many points behind it by static
    value are searched as well (null: never; not with a ``prune`` filter, which has no static values of those). ``levels``: how
    many candidates, the best of the level before, go on to ply 2 and 3 (null: all that the filter keeps go straight to ``ply``).
    Only candidates searched to the same depth are compared; finished ones are exact at every depth. A row with one
    candidate left keeps its static values. Raises RaccoonError naming a key of ``search.`` that cannot be.
    """

    def __init__(
        self,
        ply: int = 1,
        filter: Filter | None = None,
        opponent: Opponent = "greedy",
        replies: int = 4,
        gate: float | None = None,
        bump: float | None = None,
        levels: Sequence[int] | None = None,
        prune: Engine | None = None,
        shortlist: int = 5,
        batch: int = 1 << 16,
        name: str | None = None,
    ) -> None:
        self.ply = whole("search.ply", ply, 0)
        if self.ply > _MOST_PLY:
            raise RaccoonError(f"search.ply={ply}: give 0 to {_MOST_PLY} (3 takes minutes a decision)")
        if opponent not in ("greedy", "full"):
            raise RaccoonError(f"search.opponent={opponent!r}: choose greedy or full")
        if filter is not None and not isinstance(filter, Filter):
            raise RaccoonError(f"search.filter={filter!r}: give a filter, an option of search/filter")
        self.filter = Filter() if filter is None else filter
        if bump is not None and self.filter.source == "prune":
            raise RaccoonError(
                f"search.bump={bump!r}: compares static values, and search.filter.source=prune leaves those of dropped plays to "
                "another engine; choose the value, policy or union filter, or search.bump=null"
            )
        self.opponent: Opponent = opponent
        self.replies = whole("search.replies", replies, 1)
        self.gate = None if gate is None else number("search.gate", gate, "points, 0 or more, or null")
        self.bump = None if bump is None else number("search.bump", bump, "points, 0 or more, or null")
        self.levels = _levels(levels, self.ply)
        self.prune, self.shortlist = prune, whole("search.shortlist", shortlist, 1)
        self.batch = whole("search.batch", batch, 1)
        self.name = name or self._describe()

    def _describe(self) -> str:
        parts = [f"{self.ply}ply"]
        if self.ply:
            parts += [self.filter.name] + (["full" + str(self.replies)] if self.opponent == "full" and self.ply > 1 else [])
            parts += [f"gate{self.gate:g}"] if self.gate is not None else []
            parts += [f"bump{self.bump:g}"] if self.bump is not None else []
            parts += ["levels" + "-".join(map(str, self.levels))] if self.levels else []
            parts += [f"prune{self.shortlist}"] if self.prune is not None else []
        return "-".join(parts)

    def tree(self, engine: Engine) -> Tree:
        """What looks below a candidate with ``engine``."""
        return Tree(engine, self.opponent, self.replies, self.prune, self.shortlist, self.batch)

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        """See ``Search.values``. Depth 0 is ``child_values``, bit for bit."""
        if self.ply == 0 and self.filter.source == "none":
            return child_values(turns, engine)
        return self._search(turns, engine, _Cubeless(engine, self.tree(engine)))

    def cubeful(self, turns: Turns, engine: Engine, model: CubeModel) -> SearchResult:
        """The same with a live cube, on the value scale (points per unit of the cube / 3); see ``raccoon.cube.cubeful``.

        A pruning filter and pruned replies are shortlisted cubelessly. Raises RaccoonError when the engine only knows scalars.
        """
        return self._search(turns, engine, _Cubeful(engine, CubefulTree(self.tree(engine), model)))

    def cube_equities(self, boards: Boards, cubes: Cubes, engine: Engine, model: CubeModel) -> CubeEquities:
        """``(nd, dt, dp)`` of unfinished pre-roll ``boards`` to the side on roll, at ``ply``; see ``CubeModel.equities``."""
        tree, parts = CubefulTree(self.tree(engine), model), []
        step = tree.tree.roots(self.ply)
        for start in range(0, len(boards), step):
            rows = slice(start, start + step)
            parts.append(tree.equities(boards[rows], cubes.take(rows), self.ply))
        return CubeEquities(*(np.concatenate([np.zeros(0), *column]) for column in zip(*parts, strict=True)))

    def _search(self, turns: Turns, engine: Engine, source: _Source) -> SearchResult:
        before = _counted(engine, self.prune, self.filter.engine)
        values, keep = self.filter.apply(turns, engine, source.static)
        full, plies, static = keep, np.zeros(len(values), np.int8), values.copy()
        if self.ply > 0:
            survivors = self._worth_searching(values, keep, turns.offsets)
            rows = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
            steps = range(1, self.ply + 1) if self.levels else (self.ply,)
            for level, depth in enumerate(steps):
                if level:
                    best, _ = keep_best(np.where(survivors, values, -np.inf), turns.offsets, self.levels[level - 1])
                    survivors &= np.isin(np.arange(len(values)), best)
                self._deepen(values, survivors, turns, source, depth)
                plies[survivors] = depth
            if self.bump is not None:
                bumped = _bumped(static, values, survivors, turns.offsets, self.bump)
                self._deepen(values, bumped, turns, source, self.ply)
                plies[bumped] = self.ply
                survivors, keep = survivors | bumped, keep | bumped
            searched = np.zeros(len(turns), bool)
            searched[rows[survivors]] = True
            finished = terminal_value(turns.children) != 0
            full = np.where(searched[rows], survivors | (finished & keep), keep)
        return SearchResult(values, full, _counted(engine, self.prune, self.filter.engine) - before, plies)

    def _worth_searching(self, values: NDArray[np.float64], keep: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """``bool[M]``: kept candidates of the rows that have two or more, and no clear leader where there is a gate."""
        counts = np.add.reduceat(keep.astype(np.int64), offsets[:-1])
        search = counts > 1
        if self.gate is not None:
            masked = np.where(keep, values, -np.inf)
            best = np.maximum.reduceat(masked, offsets[:-1])
            top, starts = keep_best(masked, offsets, 2)
            second = np.minimum.reduceat(masked[top], starts[:-1])
            search &= 3.0 * (best - second) <= self.gate
        return keep & np.repeat(search, np.diff(offsets))

    def _deepen(self, values: NDArray[np.float64], survivors: NDArray[np.bool_], turns: Turns, source: _Source, depth: int) -> None:
        """Replace the values of the surviving candidates by those at ``depth``, in place; whole decisions at a time."""
        picked = np.flatnonzero(survivors)
        rows = np.searchsorted(turns.offsets, picked, side="right") - 1
        start, step = 0, self.tree(source.engine).roots(depth)
        while start < len(picked):
            stop = int(np.searchsorted(rows, rows[min(start + step, len(picked)) - 1], side="right"))
            part = picked[start:stop]
            values[part] = source.deep(turns, part, rows[start:stop], depth)
            start = stop


class _Source(Protocol):
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
class _Cubeless:
    engine: Engine
    tree: Tree

    def static(self, turns: Turns) -> NDArray[np.float64]:
        return child_values(turns, self.engine).values

    def deep(self, turns: Turns, part: NDArray[np.int64], rows: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
        leaves = enumerate_leaves(turns.children[part])
        deep = np.append(-self.tree.values(leaves.boards, depth), 0.0)  # index -1 is the exact ones' place
        return np.where(leaves.index < 0, leaves.exact, deep[leaves.index])


@dataclass(frozen=True)
class _Cubeful:
    engine: Engine
    tree: CubefulTree

    def static(self, turns: Turns) -> NDArray[np.float64]:
        return static_cubeful(turns, self.engine, self.tree.model, options=True) / 3.0

    def deep(self, turns: Turns, part: NDArray[np.int64], rows: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
        return self.tree.candidates(turns.children[part], turns.cubes.take(rows).flipped(), depth) / 3.0


def _bumped(
    static: NDArray[np.float64], values: NDArray[np.float64], survivors: NDArray[np.bool_], offsets: NDArray[np.int64], bump: float
) -> NDArray[np.bool_]:
    """``bool[M]``: candidates not searched yet, within ``bump`` points of the static leader of a row where search prefers another."""
    counts = np.diff(offsets)
    leader, _ = keep_best(static, offsets, 1)
    deepest, _ = keep_best(np.where(survivors, values, -np.inf), offsets, 1)
    changed = survivors[deepest] & (leader != deepest)
    near = 3.0 * (np.repeat(static[leader], counts) - static) <= bump
    return near & np.repeat(changed, counts) & ~survivors


def _levels(levels: Sequence[int] | None, ply: int) -> list[int]:
    if levels is None:
        return []
    if not isinstance(levels, Sequence) or isinstance(levels, str) or len(levels) != max(ply - 1, 0):
        raise RaccoonError(f"search.levels={levels!r}: give one number of candidates for each ply from 2 to search.ply={ply}, or null")
    return [whole(f"search.levels[{index}]", value, 1) for index, value in enumerate(levels)]


def _counted(*engines: Engine | None) -> int:
    """Evaluations so far of distinct engines."""
    return sum(engine.evaluations for engine in {id(engine): engine for engine in engines if engine is not None}.values())

"""Filtered expectimax, batched: GNUBG's n-ply search with our filters, over any engine.

The value of a pre-roll board at depth n to the side on roll, ``E_n``, is the mean over the 21 rolls of its best reply,
``-E_(n-1)`` of the afterstate; ``E_0`` is the engine's. A candidate play is worth ``-E_n`` of its afterstate. The
``greedy`` opponent fixes each reply by static value and looks deeper only below it (that is GNUBG's search); the
``full`` one looks below its ``replies`` best and takes the maximum.

All decisions that wait are searched together and every level of the trees (``raccoon.search.tree``) is a few large batches
of distinct boards. Nothing is sampled, and no value depends on the batches.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import number, quoted, whole
from raccoon.contracts import Boards, CubeEquities, CubeModel, Cubes, Engine, RaccoonError, SearchResult, Turns
from raccoon.engine.base import checked
from raccoon.env import ragged
from raccoon.search.candidate_values import CandidateValues, Cubeful, Cubeless
from raccoon.search.cubeful import CubefulTree
from raccoon.search.filters import Filter, keep_best
from raccoon.search.lookahead import child_values, enumerate_leaves, terminal_value
from raccoon.search.tree import Opponent, Tree

__all__ = ["Expectimax", "equities"]

_MOST_PLY = 3


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
    return -3.0 * leaves.scatter(np.concatenate([np.zeros(0), *parts]))


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
            raise RaccoonError(f"search.opponent={quoted(opponent)}: choose greedy or full")
        if filter is not None and not isinstance(filter, Filter):
            raise RaccoonError(f"search.filter={quoted(filter)}: give a filter, an option of search/filter")
        self.filter = Filter() if filter is None else filter
        if bump is not None and self.filter.source == "prune":
            raise RaccoonError(
                f"search.bump={quoted(bump)}: compares static values, and search.filter.source=prune leaves those of dropped plays to "
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
        return self._search(turns, engine, Cubeless(engine, self.tree(engine)))

    def cubeful(self, turns: Turns, engine: Engine, model: CubeModel) -> SearchResult:
        """The same with a live cube, on the value scale (points per unit of the cube / 3); see ``raccoon.search.cubeful``.

        A pruning filter and pruned replies are shortlisted cubelessly. Raises RaccoonError when the engine only knows scalars.
        """
        return self._search(turns, engine, Cubeful(engine, CubefulTree(self.tree(engine), model)))

    def cube_equities(self, boards: Boards, cubes: Cubes, engine: Engine, model: CubeModel) -> CubeEquities:
        """``(nd, dt, dp)`` of unfinished pre-roll ``boards`` to the side on roll, at ``ply``; see ``CubeModel.equities``."""
        tree, parts = CubefulTree(self.tree(engine), model), list[CubeEquities]()
        step = tree.tree.roots(self.ply)
        for start in range(0, len(boards), step):
            rows = slice(start, start + step)
            parts.append(tree.equities(boards[rows], cubes.take(rows), self.ply))
        return CubeEquities(*(np.concatenate([np.zeros(0), *column]) for column in zip(*parts, strict=True)))

    def _search(self, turns: Turns, engine: Engine, source: CandidateValues) -> SearchResult:
        before = _counted(engine, self.prune, self.filter.engine)
        static, kept = self.filter.apply(turns, engine, source.static)
        found, full = _Candidates(static, kept, np.zeros(len(static), np.int8)), kept
        if self.ply > 0:
            searched = _worth_searching(found, turns.offsets, self.gate)
            for depth, most in self._steps():
                if most is not None:
                    searched = _best(found, searched, turns.offsets, most)
                found = self._deepened(found, searched, turns, source, depth)
            if self.bump is not None:
                bumped = _bumped(static, found.values, searched, turns.offsets, self.bump)
                found = self._deepened(replace(found, kept=found.kept | bumped), bumped, turns, source, self.ply)
                searched = searched | bumped
            full = _fully_searched(found, searched, turns)
        return SearchResult(found.values, full, _counted(engine, self.prune, self.filter.engine) - before, found.plies)

    def _steps(self) -> list[tuple[int, int | None]]:
        """Depths that are searched one after the other, each with how many candidates go on to it (None: all)."""
        if not self.levels:
            return [(self.ply, None)]
        return list(zip(range(1, self.ply + 1), [None, *self.levels], strict=True))

    def _deepened(self, found: _Candidates, searched: NDArray[np.bool_], turns: Turns, source: CandidateValues, depth: int) -> _Candidates:
        """With the values of the ``searched bool[M]`` candidates at ``depth``; whole decisions at a time."""
        values, plies = found.values.copy(), found.plies.copy()
        picked = np.flatnonzero(searched)
        rows = ragged.row_of(turns.offsets)[picked]
        start, step = 0, self.tree(source.engine).roots(depth)
        while start < len(picked):
            last: np.int64 = rows[min(start + step, len(picked)) - 1]
            stop = int(np.searchsorted(rows, last, side="right"))
            part = picked[start:stop]
            values[part] = source.deep(turns, part, rows[start:stop], depth)
            start = stop
        plies[picked] = depth
        return replace(found, values=values, plies=plies)


@dataclass(frozen=True)
class _Candidates:
    """The M plays of some decisions while they are searched: ``values float64[M]`` to the mover (value scale) at ``plies int8[M]``;
    ``kept bool[M]``: the filter, or the rule of bumps, lets them be chosen."""

    values: NDArray[np.float64]
    kept: NDArray[np.bool_]
    plies: NDArray[np.int8]


def _worth_searching(found: _Candidates, offsets: NDArray[np.int64], gate: float | None) -> NDArray[np.bool_]:
    """``bool[M]``: kept candidates of the rows that have two or more, and no clear leader where there is a gate."""
    search = ragged.row_sum(found.kept, offsets) > 1
    if gate is not None:
        masked = np.where(found.kept, found.values, -np.inf)
        best = ragged.row_max(masked, offsets)
        top, starts = keep_best(masked, offsets, 2)
        second = -ragged.row_max(-masked[top], starts)
        search &= 3.0 * (best - second) <= gate
    return found.kept & ragged.spread(search, offsets)


def _best(found: _Candidates, searched: NDArray[np.bool_], offsets: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """``bool[M]``: the ``most`` best of the ``searched`` candidates of each row."""
    best, _ = keep_best(np.where(searched, found.values, -np.inf), offsets, most)
    out = np.zeros(len(searched), bool)
    out[best] = True
    return out & searched


def _fully_searched(found: _Candidates, searched: NDArray[np.bool_], turns: Turns) -> NDArray[np.bool_]:
    """``bool[M]``: which candidates may be chosen: the ``searched`` ones and finished games; in a row without any, all that are kept."""
    row_searched = ragged.spread(ragged.row_max(searched, turns.offsets), turns.offsets)
    finished = terminal_value(turns.children) != 0
    return np.where(row_searched, searched | (finished & found.kept), found.kept)


def _bumped(
    static: NDArray[np.float64], values: NDArray[np.float64], survivors: NDArray[np.bool_], offsets: NDArray[np.int64], bump: float
) -> NDArray[np.bool_]:
    """``bool[M]``: candidates not searched yet, within ``bump`` points of the static leader of a row where search prefers another."""
    leader, _ = keep_best(static, offsets, 1)
    deepest, _ = keep_best(np.where(survivors, values, -np.inf), offsets, 1)
    changed = survivors[deepest] & (leader != deepest)
    near = 3.0 * (ragged.spread(static[leader], offsets) - static) <= bump
    return near & ragged.spread(changed, offsets) & ~survivors


def _levels(levels: Sequence[int] | None, ply: int) -> list[int]:
    if levels is None:
        return []
    if not isinstance(levels, Sequence) or isinstance(levels, str) or len(levels) != max(ply - 1, 0):
        raise RaccoonError(
            f"search.levels={quoted(levels)}: give one number of candidates for each ply from 2 to search.ply={ply}, or null"
        )
    return [whole(f"search.levels[{index}]", value, 1) for index, value in enumerate(levels)]


def _counted(*engines: Engine | None) -> int:
    """Evaluations so far of distinct engines."""
    return sum(engine.evaluations for engine in {id(engine): engine for engine in engines if engine is not None}.values())

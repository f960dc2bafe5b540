"""Which candidate plays a search looks below: by static value, by the policy head, by both, or by a cheap pruning net."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted, whole
from raccoon.contracts import Engine, RaccoonError, Turns
from raccoon.env import ragged
from raccoon.env.kernels import kernel
from raccoon.search.effort import Effort, effort_of
from raccoon.search.lookahead import child_values, enumerate_leaves, leaf_values
from raccoon.search.priors import priors

__all__ = ["Filter", "Source", "keep_best", "subset"]

Source = Literal["none", "value", "policy", "union", "prune"]


def keep_best(
    values: NDArray[np.float64], offsets: NDArray[np.int64], k: int | NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ``k`` (one for all, or ``int64[N]``) highest ``values float64[M]`` of each row: ``(indices int64[K], offsets int64[N + 1])``.

    Indices ascend within a row; of equals the first ones stay. A shorter row keeps all it has.
    """
    starts = ragged.offsets_of(np.minimum(np.diff(offsets), k))
    if isinstance(k, int) and k == 1:
        return ragged.argmax(values, offsets), starts
    kept = np.empty(starts[-1], np.int64)
    _keep(values, offsets, starts, kept)
    return kept, starts


@kernel
def _keep(values: NDArray[np.float64], offsets: NDArray[np.int64], starts: NDArray[np.int64], kept: NDArray[np.int64]) -> None:
    """Fill ``kept`` with the highest of each row, as many as ``starts`` leaves room for; what is no number comes last."""
    for row in range(len(offsets) - 1):
        best, count = kept[starts[row] : starts[row + 1]], 0  # the highest so far, in falling order
        for index in range(offsets[row], offsets[row + 1]):
            value, place = values[index], count
            while place > 0 and (values[best[place - 1]] < value or (np.isnan(values[best[place - 1]]) and not np.isnan(value))):
                place -= 1
            if place < len(best):
                count = min(count + 1, len(best))
                for other in range(count - 1, place, -1):
                    best[other] = best[other - 1]
                best[place] = index
        best.sort()


def subset(turns: Turns, keep: NDArray[np.bool_]) -> Turns:
    """``turns`` with only the children of a mask ``bool[M]``, which leaves every row at least one."""
    starts = ragged.offsets_of(ragged.row_sum(keep, turns.offsets))
    return Turns(turns.boards, turns.dice, turns.cubes, turns.children[keep], starts)


@dataclass(eq=False)
class Filter:
    """Keeps at most ``k`` candidates of a row (a union: of each source).

    ``source``: ``none`` keeps all; ``value``: by static value, of those at most ``threshold`` points (null: any) below the
    best; ``policy``: by the policy head's probability of the whole turn; ``union``: either; ``prune``: by the static value
    of ``engine``, a cheap one, so that the searching engine never sees the others. The first of equals stays.
    ``effort``: points (pips, effort 0 to 1) of a curve over both sides' contact (the mean of the two, before the play). At effort e
    the threshold is ``least_threshold + (threshold - least_threshold) e`` and as many candidates stay as ``least_k + (k - least_k) e``,
    rounded (``least_k`` null: ``k``); null: effort 1 for all. ``contact_scale`` c stands for the curve (0, 0), (c, 1).
    Raises RaccoonError naming a key of ``search.filter.``.
    """

    source: Source = "none"
    k: int = 8
    threshold: float | None = None
    engine: Engine | None = None
    contact_scale: float | None = None
    effort: Sequence[Sequence[float]] | None = None
    least_threshold: float = 0.0
    least_k: int | None = None
    name: str = field(init=False)

    def __post_init__(self) -> None:
        if self.source not in get_args(Source):
            raise RaccoonError(f"search.filter.source={quoted(self.source)}: choose one of none, value, policy, union, prune")
        if (self.engine is None) is (self.source == "prune"):
            raise RaccoonError("search.filter.engine: goes with search.filter.source=prune, and only with it")
        whole("search.filter.k", self.k, 1)
        if self.threshold is not None:
            number("search.filter.threshold", self.threshold, "points, 0 or more, or null")
        self._curve = self._checked_curve()
        width = "" if self.threshold is None else f"w{self.threshold:g}"
        self.name = self.source if self.source == "none" else f"{self.source}{self.k}{width}{self._of_curve()}"

    def _checked_curve(self) -> Effort | None:
        """The curve over contact, None for effort 1 everywhere."""
        if self.contact_scale is None and self.effort is None:
            for key in ("least_threshold", "least_k"):
                if getattr(self, key):
                    raise RaccoonError(f"search.filter.{key}={quoted(getattr(self, key))}: goes with search.filter.effort, which is null")
            return None
        key = "contact_scale" if self.effort is None else "effort"
        if self.threshold is None:
            advice = "scales search.filter.threshold, which is null; give both or neither"
            raise RaccoonError(f"search.filter.{key}={quoted(getattr(self, key))}: {advice}")
        number("search.filter.least_threshold", self.least_threshold, "points from 0 to search.filter.threshold", most=self.threshold)
        if self.least_k is not None and whole("search.filter.least_k", self.least_k, 1) > self.k:
            raise RaccoonError(f"search.filter.least_k={self.least_k}: give at most search.filter.k={self.k}, or null")
        if self.effort is None:
            return Effort((0.0, number("search.filter.contact_scale", self.contact_scale, "pips above 0, or null", above=True)), (0.0, 1.0))
        if self.contact_scale is not None:
            raise RaccoonError(
                f"search.filter.contact_scale={quoted(self.contact_scale)}: is a curve of its own; search.filter.effort is another"
            )
        return effort_of("search.filter.effort", self.effort)

    def _of_curve(self) -> str:
        """What the curve adds to the name."""
        if self._curve is None:
            return ""
        curve = f"e{self._curve}" if self.contact_scale is None else f"c{self.contact_scale:g}"
        least = f"l{self.least_threshold:g}" if self.least_threshold else ""
        return curve + least + (f"k{self.least_k}" if self.least_k is not None else "")

    def apply(
        self, turns: Turns, engine: Engine, static: Callable[[Turns], NDArray[np.float64]] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """``(values float64[M], keep bool[M])``: static values to the mover, and the candidates that stay.

        Those that a pruning net drops have its values. ``static``: where static values come from (None: ``engine``, cubeless).
        """

        def cubeless(part: Turns) -> NDArray[np.float64]:
            return child_values(part, engine).values

        valued = static or cubeless
        if self.source == "prune":
            assert self.engine is not None
            values = leaf_values(enumerate_leaves(turns.children), self.engine)
            keep = self._by_value(values, turns)
            values[keep] = valued(subset(turns, keep))
            return values, keep
        values = valued(turns)
        if self.source == "none":
            return values, np.ones(len(values), bool)
        keep = np.zeros(len(values), bool)
        if self.source in ("value", "union"):
            keep |= self._by_value(values, turns)
        if self.source in ("policy", "union"):
            keep[keep_best(priors(turns, engine), turns.offsets, self._most(turns))[0]] = True
        return values, keep

    def _by_value(self, values: NDArray[np.float64], turns: Turns) -> NDArray[np.bool_]:
        offsets = turns.offsets
        keep = np.zeros(len(values), bool)
        keep[keep_best(values, offsets, self._most(turns))[0]] = True
        if self.threshold is not None:
            best = ragged.spread(ragged.row_max(values, offsets), offsets)
            width = np.full(len(turns), self.threshold)
            if self._curve is not None:
                width = self._curve.between(self.least_threshold, self.threshold, turns.boards)
            keep &= 3.0 * (best - values) <= ragged.spread(width, offsets)
        return keep

    def _most(self, turns: Turns) -> int | NDArray[np.int64]:
        """How many candidates of a row stay: one number, or ``int64[N]``."""
        if self._curve is None or self.least_k is None:
            return self.k
        return np.rint(self._curve.between(self.least_k, self.k, turns.boards)).astype(np.int64)

"""Which candidate plays a search looks below: by static value, by the policy head, by both, or by a cheap pruning net."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted, whole
from raccoon.contracts import Engine, RaccoonError, Turns
from raccoon.env import ragged
from raccoon.env.encoder import FEATURE_GROUPS, encode
from raccoon.env.kernels import kernel
from raccoon.search.lookahead import child_values, enumerate_leaves, leaf_values
from raccoon.search.priors import priors

__all__ = ["Filter", "Source", "keep_best", "subset"]

Source = Literal["none", "value", "policy", "union", "prune"]


def keep_best(values: NDArray[np.float64], offsets: NDArray[np.int64], k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ``k`` highest ``values float64[M]`` of each row: ``(indices int64[K], offsets int64[N + 1])``.

    Indices ascend within a row; of equals the first ones stay. A shorter row keeps all it has.
    """
    starts = ragged.offsets_of(np.minimum(np.diff(offsets), k))
    if k == 1:
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
    ``contact_scale``: the threshold shrinks in proportion where both sides' contact (pips, the mean of the two, before the
    play) is below that, to nothing in a race, where search pays nothing; null: one threshold for all.
    Raises RaccoonError naming a key of ``search.filter.``.
    """

    source: Source = "none"
    k: int = 8
    threshold: float | None = None
    engine: Engine | None = None
    contact_scale: float | None = None
    name: str = field(init=False)

    def __post_init__(self) -> None:
        if self.source not in get_args(Source):
            raise RaccoonError(f"search.filter.source={quoted(self.source)}: choose one of none, value, policy, union, prune")
        if (self.engine is None) is (self.source == "prune"):
            raise RaccoonError("search.filter.engine: goes with search.filter.source=prune, and only with it")
        whole("search.filter.k", self.k, 1)
        if self.threshold is not None:
            number("search.filter.threshold", self.threshold, "points, 0 or more, or null")
        if self.contact_scale is not None:
            number("search.filter.contact_scale", self.contact_scale, "pips above 0, or null", above=True)
            if self.threshold is None:
                advice = "scales search.filter.threshold, which is null; give both or neither"
                raise RaccoonError(f"search.filter.contact_scale={quoted(self.contact_scale)}: {advice}")
        width = "" if self.threshold is None else f"w{self.threshold:g}"
        scale = "" if self.contact_scale is None else f"c{self.contact_scale:g}"
        self.name = self.source if self.source == "none" else f"{self.source}{self.k}{width}{scale}"

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
            keep[keep_best(priors(turns, engine), turns.offsets, self.k)[0]] = True
        return values, keep

    def _by_value(self, values: NDArray[np.float64], turns: Turns) -> NDArray[np.bool_]:
        offsets = turns.offsets
        keep = np.zeros(len(values), bool)
        keep[keep_best(values, offsets, self.k)[0]] = True
        if self.threshold is not None:
            best = ragged.spread(ragged.row_max(values, offsets), offsets)
            width = np.full(len(turns), self.threshold)
            if self.contact_scale is not None:
                width *= np.minimum(1.0, _contact(turns) / self.contact_scale)
            keep &= 3.0 * (best - values) <= ragged.spread(width, offsets)
        return keep


def _contact(turns: Turns) -> NDArray[np.float64]:
    """``float64[N]``: contact in pips, the mean of the two sides', before the play."""
    return encode(turns.boards, channels=FEATURE_GROUPS["contact"], normalize=False)[:, :, 0, 0].mean(axis=1, dtype=np.float64)

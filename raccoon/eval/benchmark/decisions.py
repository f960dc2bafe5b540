"""A benchmark: positions with reference equities for every candidate play and cube action, as columns.

``raccoon.eval.benchmark.loader`` reads files. Candidates are in position-key order within each decision, so that nothing
about their order in the source (best first) can leak into a choice between equal values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, CubeRules, Cubes, RaccoonError, Turns
from raccoon.env import ragged
from raccoon.rng import generator

__all__ = ["Benchmark", "CheckerDecisions", "CubeDecisions"]

Text = NDArray[np.str_]
Floats = NDArray[np.float64]
MEASURED_TIER, MEASURED_LEVEL = "rollout", "Rollout"
"""What marks a reference that was measured: games played to the end, with the cube."""


def _unknown() -> Floats:
    """Stands for a column of NaN where standard errors are not given."""
    return np.empty(0)


@dataclass(frozen=True)
class _Decisions:
    """What the two kinds share: ``keys``, ``games`` (the game a decision comes from, the bootstrap's unit), ``turn``, ``tiers`` (how much
    effort a decision got), ``plans``; ``boards int8[N, 2, 25]``."""

    keys: Text
    games: NDArray[np.int64]
    turn: NDArray[np.int32]
    tiers: Text
    plans: Text
    boards: Boards

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: NDArray[Any]) -> Self:
        """The decisions of the given rows (mask or index array), in that order."""
        return replace(self, **{column.name: self._of_rows(column.name, rows) for column in fields(self)})

    def _of_rows(self, name: str, rows: NDArray[Any]) -> Any:
        column = getattr(self, name)
        return column.take(rows) if isinstance(column, Cubes) else column[rows]

    def first_games(self, count: int | None) -> Self:
        """The decisions of the ``count`` games of lowest number; all of them when None or more than there are."""
        if count is None:
            return self
        return self.take(np.isin(self.games, np.unique(self.games)[:count]))


def _fill(part: _Decisions, size: int, *names: str) -> None:
    """Makes columns that were not given ``float64[size]`` of NaN."""
    for name in names:
        if not len(getattr(part, name)):
            object.__setattr__(part, name, np.full(size, np.nan))


@dataclass(frozen=True)
class CheckerDecisions(_Decisions):
    """``N`` checker plays with ``M`` candidates; the candidates of row ``i`` are ``offsets[i]:offsets[i + 1]``.

    In ``boards`` the mover is in slot 1; ``children int8[M, 2, 25]`` afterstates, opponent on roll. Reference
    numbers are to the mover, in points per unit of the current cube: ``equity`` cubeful, ``cubeless``, ``probs5``
    (cumulative five). ``std_error`` of ``cubeless``; ``difference_se`` of its difference to the best candidate that was rolled out on
    the same dice, NaN where unknown both. ``levels`` tells how each candidate was evaluated.
    """

    dice: NDArray[np.int8]
    cubes: Cubes
    offsets: NDArray[np.int64]
    children: Boards
    equity: Floats
    cubeless: Floats
    probs5: Floats
    std_error: Floats
    levels: Text
    difference_se: Floats = field(default_factory=_unknown)

    def __post_init__(self) -> None:
        _fill(self, len(self.children), "difference_se")

    def turns(self, rules: CubeRules | None = None) -> Turns:
        """The decisions as a player sees them: the listed candidates are the children. ``rules`` of a live cube; None: no cube."""
        return Turns(self.boards, self.dice, self.cubes.under(rules), self.children, self.offsets)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """``bool[M]``: the candidate was rolled out to the end, by its decision's tier and its own level."""
        return ragged.spread(self.tiers == MEASURED_TIER, self.offsets) & (self.levels == MEASURED_LEVEL)

    def rows_of_candidates(self) -> NDArray[np.int64]:
        """``int64[M]``: the decision each candidate belongs to."""
        return ragged.row_of(self.offsets)

    def take(self, rows: NDArray[Any]) -> CheckerDecisions:
        """The decisions of the given rows (mask or index array), in that order."""
        rows = np.arange(len(self))[rows]
        candidates, offsets = ragged.take(self.offsets, rows)
        by_candidate = {"children", "equity", "cubeless", "probs5", "std_error", "difference_se", "levels"}
        names = [column.name for column in fields(self) if column.name != "offsets"]
        picked = {name: self._of_rows(name, candidates if name in by_candidate else rows) for name in names}
        return CheckerDecisions(offsets=offsets, **picked)

    def sampled(self, count: int | None, seed: int) -> CheckerDecisions:
        """``count`` decisions drawn once by ``seed``, in their order; all of them when None or more than there are."""
        if count is None or count >= len(self):
            return self
        return self.take(np.sort(generator(seed, "benchmark.sample").choice(len(self), count, replace=False)))

    def loss(self, equity: Floats) -> Floats:
        """``float64[M]``: what each candidate gives away against the best listed one by reference ``equity [M]``."""
        return ragged.spread(ragged.row_max(equity, self.offsets), self.offsets) - equity


@dataclass(frozen=True)
class CubeDecisions(_Decisions):
    """``N`` cube positions before the roll, the possible doubler in slot 1.

    Equities to the doubler in points per unit of the current cube: ``no_double``, ``double_take`` (already times 2),
    ``double_pass``. ``has_double``, ``has_take``: which of the two decisions are close enough to count. Standard errors, NaN where
    unknown: ``no_double_se``, ``double_take_se``, and ``difference_se`` of ``double_take - no_double``, both on the same dice.
    """

    cubes: Cubes
    no_double: Floats
    double_take: Floats
    double_pass: Floats
    probs5: Floats
    has_double: NDArray[np.bool_]
    has_take: NDArray[np.bool_]
    levels: Text
    no_double_se: Floats = field(default_factory=_unknown)
    double_take_se: Floats = field(default_factory=_unknown)
    difference_se: Floats = field(default_factory=_unknown)

    def __post_init__(self) -> None:
        _fill(self, len(self), "no_double_se", "double_take_se", "difference_se")

    @property
    def measured(self) -> NDArray[np.bool_]:
        """``bool[N]``: the reference is a rollout played to the end, by tier and by level: the other ones come out of a search."""
        return (self.tiers == MEASURED_TIER) & (self.levels == MEASURED_LEVEL)

    @property
    def should_double(self) -> NDArray[np.bool_]:
        """``bool[N]``: the reference doubles."""
        return np.minimum(self.double_take, self.double_pass) > self.no_double

    @property
    def should_take(self) -> NDArray[np.bool_]:
        """``bool[N]``: the reference takes when doubled."""
        return self.double_take <= self.double_pass


@dataclass(frozen=True)
class Benchmark:
    """``source`` names the file in messages; ``meta`` is what the file says about itself."""

    source: str
    meta: Mapping[str, Any]
    checker: CheckerDecisions
    cube: CubeDecisions

    def __post_init__(self) -> None:
        for name in ("jacoby", "beavers"):
            if not isinstance(self.meta.get(name, True), bool):
                raise RaccoonError(f"{self.source}: meta.{name}={quoted(self.meta[name])}: true or false is expected")
        if not isinstance(self.meta.get("rolled", []), list):
            raise RaccoonError(f"{self.source}: meta.rolled={quoted(self.meta['rolled'])}: a list is expected")

    def plays(self) -> CheckerDecisions:
        """The checker decisions. Raises RaccoonError where there are none."""
        if not len(self.checker):
            raise RaccoonError(f"{self.source}: has no checker decisions to score")
        return self.checker

    @property
    def jacoby(self) -> bool:
        """Jacoby rule, on unless the file says otherwise."""
        return bool(self.meta.get("jacoby", True))

    @property
    def beavers(self) -> bool:
        """Beavers, on unless the file says otherwise."""
        return bool(self.meta.get("beavers", True))

    @property
    def rules(self) -> CubeRules:
        """The rules that the cubeful references were made under."""
        return CubeRules(jacoby=self.jacoby, beavers=self.beavers)

    def of_tier(self, name: str) -> Benchmark:
        """The decisions of the tier ``name`` alone. Raises RaccoonError naming the tiers that there are when it has none."""
        checker, cube = (part.take(part.tiers == name) for part in (self.checker, self.cube))
        if not len(checker) + len(cube):
            there = sorted({*self.checker.tiers.tolist(), *self.cube.tiers.tolist()})
            raise RaccoonError(f"{self.source}: no decision of tier {quoted(name)}; there are {', '.join(there)}")
        meta = {**self.meta, "tier_counts": {name: len(checker) + len(cube)}}
        return replace(self, meta=meta, checker=checker, cube=cube)

"""Cubeful equities to hold a cube model against: from a benchmark's references, or exact from the bear-off table.

A benchmark's candidates are positions after a play: the other side is on roll, so it is the one that may double, and a
reference equity includes that right. The exact table gives the equity of not doubling now, as the formulas do.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes, RaccoonError
from raccoon.cube.choice import OWNERS, best_of
from raccoon.cube.exact_bearoff import CubefulBearoff
from raccoon.engine.exact_bearoff.tables import count, positions
from raccoon.env.board import terminal_points
from raccoon.eval.benchmark.decisions import MEASURED_LEVEL, MEASURED_TIER, Benchmark, CheckerDecisions, CubeDecisions
from raccoon.rng import generator

__all__ = [
    "COMPLETED",
    "EXACT",
    "LOCATIONS",
    "METHODS",
    "SEARCHED",
    "TRUNCATED",
    "Evidence",
    "ReferenceEquities",
    "as_after_a_play",
    "classes",
    "exact_evidence",
    "references_of_benchmark",
    "references_of_cube",
]

LOCATIONS = {OWNED: "owned", CENTRED: "centred", OPPONENT: "theirs"}
"""Names of the cube's places, seen from the side whose equity is told."""
METHODS = EXACT, COMPLETED, TRUNCATED, SEARCHED = "exact", "rollout to completion", "truncated rollout", "search"
"""How a reference was made, best first. The first two are measurements; the others call a model at their leaves."""
_BLOCKS = 200
"""Exact positions are drawn one by one; so many groups of them serve as the clusters of intervals."""


@dataclass(frozen=True)
class ReferenceEquities:
    """``M`` reference equities, one position and one cube each; arrays are seen from the side on roll, in points per unit of the cube.

    ``probs5`` cumulative, ``owner``, ``equity``; ``method``: how the reference was made; ``decision`` and ``game``: what rows
    belong together. ``includes_double``: the equity includes the right of the side on roll to double. ``sign``: 1 when results are told
    from the side on roll, -1 from the side that has just moved. ``value`` of the cube, None where there is no telling.
    """

    boards: Boards
    probs5: NDArray[np.float64]
    owner: NDArray[np.int8]
    equity: NDArray[np.float64]
    method: NDArray[np.str_]
    decision: NDArray[np.int64]
    game: NDArray[np.int64]
    includes_double: bool
    sign: int
    jacoby: bool = False
    beavers: bool = False
    value: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.equity)

    @property
    def reported(self) -> NDArray[np.float64]:
        """``float64[M]``: the reference equity to the side that results are told from."""
        return self.sign * self.equity

    def at(self, location: str) -> NDArray[np.bool_]:
        """``bool[M]``: the cube is at ``location``, seen from the side that results are told from."""
        return self.owner == self.sign * next(code for code, name in LOCATIONS.items() if name == location)

    def take(self, rows: NDArray[Any]) -> ReferenceEquities:
        """The given rows (mask or indices)."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: array[rows] for name, array in arrays.items() if isinstance(array, np.ndarray)})


@dataclass(frozen=True)
class Evidence:
    """What one reference has to offer, under ``rules``: equities of ``references``, decisions of ``cube`` and of ``checker`` plays (None:
    there are none); ``name`` for people."""

    name: str
    references: ReferenceEquities
    cube: CubeDecisions
    rules: CubeRules
    checker: CheckerDecisions | None = None


def classes(tiers: NDArray[np.str_], levels: NDArray[np.str_]) -> NDArray[np.str_]:
    """``str[n]``: how each reference was made. Both fields are needed: truncated rollouts have the level of complete ones."""
    rolled = levels == MEASURED_LEVEL
    return np.where(rolled & (tiers == MEASURED_TIER), COMPLETED, np.where(rolled, TRUNCATED, np.where(levels == EXACT, EXACT, SEARCHED)))


def references_of_benchmark(benchmark: Benchmark, checker: CheckerDecisions | None = None) -> ReferenceEquities:
    """The candidates of a benchmark's checker plays (or of ``checker``, some of them) that do not end the game."""
    checker = benchmark.checker if checker is None else checker
    rows = checker.rows_of_candidates()
    win, won_gammon, won_backgammon, lost_gammon, lost_backgammon = checker.probs5.T
    references = ReferenceEquities(
        boards=checker.children,
        probs5=np.stack([1.0 - win, lost_gammon, lost_backgammon, won_gammon, won_backgammon], axis=1),
        owner=(-checker.cubes.owner[rows]).astype(np.int8),
        equity=-checker.equity,
        method=classes(checker.tiers[rows], checker.levels),
        decision=rows,
        game=checker.games[rows],
        includes_double=True,
        sign=-1,
        jacoby=benchmark.jacoby,
        beavers=benchmark.beavers,
        value=checker.cubes.value[rows],
    )
    return references.take(terminal_points(checker.children) == 0)


def references_of_cube(cube: CubeDecisions, rules: CubeRules, which: str) -> ReferenceEquities:
    """``nd``: the equities of not doubling; ``dt``: those of the cube that the other side has after a take, in its own unit."""
    doubled = which == "dt"
    owner = np.full(len(cube), OPPONENT, np.int8) if doubled else cube.cubes.owner
    return ReferenceEquities(
        boards=cube.boards,
        probs5=cube.probs5,
        owner=owner,
        equity=cube.double_take / 2.0 if doubled else cube.no_double,
        method=classes(cube.tiers, cube.levels),
        decision=np.arange(len(cube)),
        game=cube.games,
        includes_double=False,
        sign=1,
        jacoby=rules.jacoby and not doubled,
        beavers=rules.beavers,
    )


def exact_evidence(checkers: int, sample: int | None, seed: int, window: float) -> Evidence:
    """Exact equities of ``sample`` positions of the table, drawn without repetition (None: all), with the cube in each place.

    Cube decisions are those within ``window`` points of indifference. Races without gammons; told from the side on roll.
    """
    table = CubefulBearoff(checkers)
    sides, size = positions(checkers), count(checkers) - 1
    if sample is not None and sample > size * size:
        raise RaccoonError(f"evaluator.positions={sample}: the table of {checkers} checkers has {size * size:,}; null takes all")
    pairs = np.arange(size * size)
    if sample is not None:
        pairs = np.sort(generator(seed, "cube_fit.positions").choice(size * size, sample, replace=False))
    boards = np.zeros((len(pairs), 2, 25), np.int8)
    boards[:, 1, :6], boards[:, 0, :6] = sides[1 + pairs // size], sides[1 + pairs % size]
    blocks = generator(seed, "cube_fit.blocks").permutation(len(pairs)) % min(_BLOCKS, len(pairs))
    probs5 = np.zeros((len(pairs), 5))
    probs5[:, 0] = np.clip((1.0 + table.cubeless(boards)) / 2.0, 0.0, 1.0)
    held = table.no_double(boards)
    made = np.full(3 * len(pairs), EXACT)
    references = ReferenceEquities(
        boards=np.tile(boards, (3, 1, 1)),
        probs5=np.tile(probs5, (3, 1)),
        owner=np.repeat(np.array(OWNERS, np.int8), len(pairs)),
        equity=held.T.ravel(),
        method=made,
        decision=np.tile(np.arange(len(pairs)), 3),
        game=np.tile(blocks, 3),
        includes_double=False,
        sign=1,
    )
    return Evidence(f"exact bear-offs, up to {checkers} checkers a side", references, _exact_cube(references, window), CubeRules())


def _exact_cube(references: ReferenceEquities, window: float) -> CubeDecisions:
    """The decisions near indifference of who may double; a take is asked for where the double is right."""
    n = len(references) // 3
    taken = 2.0 * references.equity[OWNERS.index(OPPONENT) * n :][:n]
    rows = np.flatnonzero(references.owner != OPPONENT)
    offered = np.minimum(taken[rows % n], 1.0)
    rows = rows[np.abs(offered - references.equity[rows]) <= window]
    dt, nd, owner = taken[rows % n], references.equity[rows], references.owner[rows]
    text = np.full(len(rows), EXACT)
    return CubeDecisions(
        keys=np.char.add(rows.astype(np.str_), text),
        games=references.game[rows],
        turn=np.zeros(len(rows), np.int32),
        tiers=text,
        plans=np.full(len(rows), "purerace"),
        boards=references.boards[rows],
        cubes=Cubes(np.where(owner == CENTRED, 1, 2).astype(np.int32), owner),
        no_double=nd,
        double_take=dt,
        double_pass=np.ones(len(rows)),
        probs5=references.probs5[rows],
        has_double=np.ones(len(rows), bool),
        has_take=np.minimum(dt, 1.0) > nd,
        levels=text,
    )


def as_after_a_play(references: ReferenceEquities, table: CubefulBearoff) -> ReferenceEquities:
    """The same positions as a benchmark sees them: with the option of the side on roll, told from the other side."""
    cubes = Cubes(np.ones(len(references), np.int32), references.owner)
    equities = table.equities(references.boards, cubes)
    return replace(references, equity=best_of(equities, references.owner != OPPONENT), includes_double=True, sign=-1)

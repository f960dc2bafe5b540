"""Measured volatility: how far the static value spreads over the 21 next rolls, each played as well as the engine can.

The cube-life index is meant to fall as volatility rises, which makes this the number to hold fitted indices against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.config.instantiate import shared
from raccoon.contracts import Engine, RaccoonError
from raccoon.engine.rolls import best_of_rolls, roll_means
from raccoon.env.lookup import unique_boards
from raccoon.eval.benchmark.loader import load, locate
from raccoon.eval.cube_fit.references import COMPLETED, EXACT, METHODS, Evidence, ReferenceEquities, exact_evidence, references_of_benchmark
from raccoon.eval.pr.checker_shards import digest
from raccoon.executor import Executor, Work, run_shards, shard_size
from raccoon.rng import generator

__all__ = ["ReferenceSelection", "volatility"]


@dataclass(frozen=True)
class ReferenceSelection:
    """Where evidence comes from; see ``CubeFit``."""

    reference: str
    benchmark: str
    references: str
    games: int | None
    checkers: int
    positions: int | None
    cube_window: float
    seed: int

    def evidence(self) -> Evidence:
        """All of it. Raises RaccoonError when the benchmark is unusable."""
        return _evidence(self)

    def chosen(self, made: NDArray[np.str_]) -> NDArray[np.bool_]:
        """``bool[n]``: the references that count, by ``references``; RaccoonError when ``measured`` finds none."""
        if self.references == "all":
            return np.ones(len(made), bool)
        there = [one for one in METHODS if (made == one).any()]
        if self.references == "measured":
            there = [one for one in there if one in (EXACT, COMPLETED)]
            if not there:
                raise RaccoonError(
                    f"evaluator.references=measured: {self.benchmark} has no rollouts to completion (tier rollout, eval_level Rollout); "
                    "give best, which takes the best there is, or all"
                )
        return made == there[0] if there else np.zeros(len(made), bool)

    def job(self) -> dict[str, Any]:
        """The plan and what the file holds, for a shard's job."""
        content = digest(locate(self.benchmark)) if self.reference == "benchmark" else ""
        return {"plan": asdict(self), "content": content}


@lru_cache(maxsize=2)
def _evidence(plan: ReferenceSelection) -> Evidence:
    if plan.reference == "exact":
        return exact_evidence(plan.checkers, plan.positions, plan.seed, plan.cube_window)
    benchmark = load(plan.benchmark)
    checker, cube = benchmark.checker.first_games(plan.games), benchmark.cube.first_games(plan.games)
    references = references_of_benchmark(benchmark, checker)
    if not len(references):
        raise RaccoonError(f"{benchmark.source}: has no checker decisions to measure a cube model by")
    return Evidence(benchmark.source, references, cube, benchmark.rules, checker)


def selected(plan: ReferenceSelection) -> ReferenceEquities:
    """The equities that count."""
    references = plan.evidence().references
    return references.take(plan.chosen(references.method))


def volatility(
    executor: Executor, plan: ReferenceSelection, engine: Mapping[str, Any], limit: int, shard: int, folder: Path
) -> tuple[ReferenceEquities, NDArray[np.float64]]:
    """The rows of at most ``limit`` different boards of the equities that count, and the SD of points over the rolls of each row."""
    references = selected(plan)
    boards, inverse = _sample(plan, references, limit)
    size = shard_size(len(boards), shard)
    job = {**plan.job(), "engine": dict(engine), "limit": limit, "shard": size}
    sizes = [min(size, len(boards) - start) for start in range(0, len(boards), size)]
    parts = run_shards(executor, volatility_shard, job, len(sizes), folder, Work("volatility", "boards", sizes))
    spread = np.concatenate([part["spread"] for part in parts])
    rows = np.flatnonzero(inverse >= 0)
    return references.take(rows), spread[inverse[rows]]


def volatility_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """SDs of shard ``index``."""
    plan, size = ReferenceSelection(**job["plan"]), job["shard"]
    references = selected(plan)
    boards, _ = _sample(plan, references, job["limit"])
    engine = shared(job["engine"], "evaluator.engine", Engine)
    part = references.boards[boards[index * size : (index + 1) * size]]
    values = engine.roll_values(part) if hasattr(engine, "roll_values") else best_of_rolls(part, engine)
    mean = roll_means(values)
    return {"spread": np.sqrt(roll_means((values - mean[:, None]) ** 2))}


def _sample(plan: ReferenceSelection, references: ReferenceEquities, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A row of each drawn board ``int64[B]``, and for every row which of them is its board, -1 for none ``int64[M]``."""
    first, inverse = unique_boards(references.boards)
    drawn = np.arange(len(first))
    if limit < len(first):
        drawn = np.sort(generator(plan.seed, "cube_fit.volatility").choice(len(first), limit, replace=False))
    place = np.full(len(first), -1)
    place[drawn] = np.arange(len(drawn))
    return first[drawn], place[inverse]

"""Asks players for their choices in worker processes, a few whole games a shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.config.instantiate import shared
from raccoon.contracts import CubeRules, Player
from raccoon.eval.benchmark.decisions import CheckerDecisions, CubeDecisions
from raccoon.eval.benchmark.loader import load, locate
from raccoon.eval.pr.checker_scoring import Decided, choose
from raccoon.executor import Executor, Work, run_shards, shard_size
from raccoon.files import file_digest

__all__ = ["Selection", "decide", "digest", "partition"]


@dataclass(frozen=True)
class Selection:
    """Which decisions of a benchmark: those of the first ``games`` games of ``source`` (null: all), of them ``sample`` drawn by
    ``sample_seed`` (null: all)."""

    source: str
    games: int | None = None
    sample: int | None = None
    sample_seed: int = 21

    def as_dict(self) -> dict[str, Any]:
        """The fields, for a shard's job."""
        return asdict(self)

    def of(self, checker: CheckerDecisions) -> CheckerDecisions:
        """The selected decisions."""
        return checker.first_games(self.games).sampled(self.sample, self.sample_seed)


def decide(
    executor: Executor,
    node: Mapping[str, Any],
    selection: Selection,
    shard_games: int,
    folder: Path,
    label: str,
    rules: CubeRules | None = None,
) -> tuple[str, Decided]:
    """The name of the player that ``node`` describes and its choices on the selected decisions of a benchmark.

    ``rules``: those of the live cube it plays with; None: without a cube. ``folder`` keeps finished shards, so that an
    interrupted run continues; the content of the benchmark file is part of the job.
    """
    content = digest(locate(selection.source))
    job = {"player": dict(node), "selection": selection.as_dict(), "content": content, "shard_games": shard_games}
    if rules is not None:
        job["rules"] = asdict(rules)
    checker = selection.of(load(selection.source).checker)
    parts = partition(checker, shard_games)
    work = Work(label, "decisions", [len(part) for part in parts])
    results = run_shards(executor, choose_shard, job | {"shards": len(parts)}, len(parts), folder, work)
    order = np.concatenate(parts)
    chosen = np.empty(len(order), np.int64)
    chosen[order] = np.concatenate([result["chosen"] for result in results])
    points = np.empty(len(checker.children))
    candidates = checker.rows_of_candidates()
    for rows, result in zip(parts, results, strict=True):
        # A shard keeps the order of its rows, and so of their candidates.
        points[np.isin(candidates, rows)] = result["values"]
    seconds = float(sum(result["seconds"] for result in results))
    return str(results[0]["name"]), Decided(chosen, points, seconds, int(sum(result["evaluations"] for result in results)))


def choose_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Shard ``index``: the choices of the job's player on the decisions of its games."""
    selection = Selection(**job["selection"])
    checker = selection.of(load(selection.source).checker)
    rules = CubeRules(**job["rules"]) if "rules" in job else None
    # warmed up when it is new, so that loading and compiling are not on the clock
    player: Player = shared(job["player"], "player", Player, ready=lambda made: choose(made, checker.take(np.arange(1)), rules))
    decided = choose(player, checker.take(partition(checker, job["shard_games"])[index]), rules)
    return {
        "name": player.name,
        "chosen": decided.chosen,
        "values": decided.points,
        "seconds": decided.seconds,
        "evaluations": decided.evaluations,
    }


def partition(checker: CheckerDecisions | CubeDecisions, shard_games: int) -> list[NDArray[np.int64]]:
    """Row indices (ascending) of each shard: the decisions of ``shard_games`` consecutive games, of fewer where there are few."""
    games, numbers = np.unique(checker.games, return_inverse=True)
    size = shard_size(len(games), shard_games)
    return [np.flatnonzero(numbers // size == shard) for shard in range(-(-len(games) // size))]


def digest(path: Path) -> str:
    """Tells one content of a file from another."""
    return file_digest(path)[:16]

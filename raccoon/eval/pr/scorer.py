"""What every evaluator on a checker benchmark shares: its decisions, how players answer them, what that costs, and how to read it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon import stats
from raccoon.checks import number, quoted, whole
from raccoon.contracts import BLUNDER, CENTRED, PR_SCALE, CubeRules, Figure, RaccoonError
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import EMBEDDED, load
from raccoon.eval.pr.checker_scoring import Metric, Scores, accuracy, cube_blind_loss, pr, score
from raccoon.eval.pr.checker_shards import Selection, decide
from raccoon.eval.pr.cube_ready import ask_first
from raccoon.executor import Executor
from raccoon.rng import generator

__all__ = ["BenchmarkScorer", "notes", "paired"]


class BenchmarkScorer:
    """Scores players on a benchmark, in shards: on which of its decisions, by which equities. Evaluators of PR derive from it."""

    def __init__(
        self,
        executor: Executor,
        benchmark: str = EMBEDDED,
        metric: Metric = "cubeless",
        bootstrap: int = stats.REPLICATES,
        blunder: float = BLUNDER,
        games: int | None = None,
        sample: int | None = None,
        sample_seed: int = 21,
        shard_games: int = 4,
        decisions_per_game: float = 28.0,
    ) -> None:
        if metric not in ("cubeless", "cubeful"):
            raise RaccoonError(f"evaluator.metric={quoted(metric)}: choose cubeless or cubeful")
        self.executor = executor
        self.source = str(benchmark)
        self.metric: Metric = metric
        self.bootstrap = whole("evaluator.bootstrap", bootstrap, 1)
        self.blunder = number("evaluator.blunder", blunder, "points above 0", above=True)
        limits = [
            None if value is None else whole(key, value, 1) for key, value in (("evaluator.games", games), ("evaluator.sample", sample))
        ]
        self.selection = Selection(self.source, limits[0], limits[1], whole("evaluator.sample_seed", sample_seed, 0))
        self.shard_games = whole("evaluator.shard_games", shard_games, 1)
        self.decisions_per_game = number("evaluator.decisions_per_game", decisions_per_game, "a number above 0", above=True)

    def load(self) -> Benchmark:
        """The benchmark, the selected decisions of it; RaccoonError when it has no checker decisions."""
        benchmark = load(self.source)
        return dataclasses.replace(benchmark, checker=self.selection.of(benchmark.plays()))

    def rules(self, benchmark: Benchmark) -> CubeRules | None:
        """The rules of the cube that players choose with: the benchmark's, None with the cubeless metric."""
        return benchmark.rules if self.metric == "cubeful" else None

    def check(self, node: Mapping[str, Any], at: str, benchmark: Benchmark) -> None:
        """Raise RaccoonError when the metric is cubeful and the player of ``node`` (at the key ``at``) cannot play with a cube."""
        if self.metric == "cubeful":
            turns = benchmark.checker.take(np.arange(1)).turns(benchmark.rules)
            ask_first(node, at, lambda made: made.choose(turns), f"; or rank its plays without the cube: {at}.cube.moves=cubeless")

    def scores(self, node: Mapping[str, Any], benchmark: Benchmark, folder: Path, label: str) -> Scores:
        """Play the benchmark with the player of ``node`` (shards in ``folder``) and price its choices."""
        name, decided = decide(self.executor, node, self.selection, self.shard_games, folder, label, self.rules(benchmark))
        return score(name, benchmark.checker, decided, self.metric)

    def summary(self, scores: Scores, seed: int) -> dict[str, Figure]:
        """The headline figures of one player."""
        n = len(scores.loss)
        figures = {
            "pr": pr(scores, seed, self.bootstrap),
            "blunders": stats.proportion_ci(int((scores.loss > self.blunder).sum()), n),
            "best_plays": stats.proportion_ci(int((scores.loss <= 0).sum()), n),
            "seconds_per_decision": Figure(scores.seconds, n=n),
            "evaluations_per_decision": Figure(scores.decided.evaluations / n, n=n),
        }
        owned = scores.checker.cubes.owner != CENTRED
        if self.metric == "cubeful" and owned.any():
            figures["pr_owned_cube"] = pr(scores, seed, self.bootstrap, owned)
        if scores.has_values:
            figures.update({f"value_{key}": figure for key, figure in accuracy(scores, seed, self.bootstrap).items()})
        return figures


def paired(first: Scores, second: Scores, seed: int, replicates: int, rows: np.ndarray | None = None) -> Figure:
    """PR of ``first`` minus ``second`` over shared decisions, bootstrapped by game."""
    picked = slice(None) if rows is None else rows
    rng = generator(seed, "bgsage_pr.bootstrap")
    return stats.paired_bootstrap(first.loss[picked], second.loss[picked], first.checker.games[picked], rng, replicates, PR_SCALE)


def notes(benchmark: Benchmark, scorer: BenchmarkScorer) -> list[str]:
    """How to read the numbers."""
    games = len(np.unique(benchmark.checker.games))
    return [
        f"Benchmark: {benchmark.source}, {len(benchmark.checker):,} checker decisions of {games:,} games, {benchmark.rules.flags()}.",
        f"PR is {PR_SCALE:g} x the mean {scorer.metric} error; blunders cost more than {scorer.blunder:g} points; intervals bootstrap "
        f"games ({scorer.bootstrap:,} replicates). Value accuracy is on cubeless points. Seconds are processor time.",
        *(_cubeful_notes(benchmark) if scorer.metric == "cubeful" else []),
    ]


def _cubeful_notes(benchmark: Benchmark) -> list[str]:
    checker = benchmark.checker
    lost = cube_blind_loss(checker)
    owned = checker.cubes.owner != CENTRED
    share = "" if not owned.any() else f", {PR_SCALE * lost[owned].mean():.3g} with the cube owned"
    return [
        f"The plays that are best without a cube have a PR of {PR_SCALE * lost.mean():.3g} here{share}. The Jacoby rule counts "
        "only while the cube is centred: pr_owned_cube is free of it.",
    ]

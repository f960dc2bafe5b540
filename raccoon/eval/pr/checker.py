"""``evaluator=bgsage_pr``: how much equity a player gives away on a benchmark refereed by Open Sage.

Checker plays only: every candidate is a complete turn. PR = 500 x mean(best - chosen) by the reference, cubeless (players then
choose without a cube) or cubeful (they choose with a live cube, under the benchmark's rules). Two players on
the same decisions are compared in pairs, and the difference predicts points per game: errors per decision add up over
the decisions of a game. That is a model, which the arenas test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon import stats
from raccoon.checks import number, quoted, whole
from raccoon.contracts import CENTRED, CubeRules, Figure, RaccoonError, Report
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import EMBEDDED, load
from raccoon.eval.pr.checker_scoring import PR_SCALE, Metric, Scores, accuracy, accuracy_tables, group_masks, pr, score
from raccoon.eval.pr.checker_shards import Selection, decide
from raccoon.eval.pr.cube_ready import CUBELESS_MOVES, ask_first, cubeless_twin
from raccoon.executor import Executor
from raccoon.files.npz import write_arrays
from raccoon.report import plots, report_files
from raccoon.rng import generator

__all__ = ["BGSagePR", "BenchmarkScorer", "paired", "predicted_ppg"]


class BenchmarkScorer:
    """Scores players on a benchmark, in shards: on which of its decisions, by which equities. Evaluators of PR derive from it."""

    def __init__(
        self,
        executor: Executor,
        benchmark: str = EMBEDDED,
        metric: Metric = "cubeless",
        bootstrap: int = stats.REPLICATES,
        blunder: float = 0.08,
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
        if not len(benchmark.checker):
            raise RaccoonError(f"{benchmark.source}: has no checker decisions to score")
        return dataclasses.replace(benchmark, checker=self.selection.of(benchmark.checker))

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


class BGSagePR(BenchmarkScorer):
    """PR of the player; see the module docstring.

    ``compare``: the second player, a node, ``"opponent"`` (the run's opponent, where there is one), ``"cubeless"`` (the same
    player ranking its plays without the cube; for ``metric=cubeful``) or null for none.
    ``measured``: the run folder of an arena whose measured points per game stand beside the predicted ones.
    """

    name = "bgsage_pr"

    def __init__(
        self, executor: Executor, compare: Mapping[str, Any] | str | None = "opponent", measured: str | None = None, **settings: Any
    ) -> None:
        super().__init__(executor, **settings)
        if isinstance(compare, str) and compare not in ("opponent", CUBELESS_MOVES):
            raise RaccoonError(f"evaluator.compare={quoted(compare)}: give a player node, opponent, {CUBELESS_MOVES} or null")
        if compare == CUBELESS_MOVES and self.metric != "cubeful":
            raise RaccoonError(
                f"evaluator.compare={CUBELESS_MOVES}: without a cube in play there is nothing to compare; set evaluator.metric=cubeful"
            )
        self.compare, self.measured = compare, measured
        self.reads = ("player", "opponent") if compare == "opponent" else ("player",)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``. Raises RaccoonError when the benchmark is unusable or the folder holds a result."""
        benchmark = self.load()
        measured = None if self.measured is None else _measured(self.measured)
        other = opponent if self.compare == "opponent" else cubeless_twin(player) if self.compare == CUBELESS_MOVES else self.compare
        second = isinstance(other, Mapping) and dict(other) != dict(player)
        self.check(player, "player", benchmark)
        if isinstance(other, Mapping) and second:
            self.check(other, "opponent" if self.compare == "opponent" else "evaluator.compare", benchmark)
        mine = self.scores(player, benchmark, Path(run_dir) / "shards" / "player", "benchmark")
        result = Report(self.name, mine.name, None, seed, figures=self.summary(mine, seed))
        result.tables = {**self._tables(mine, seed), **accuracy_tables(mine, seed, self.bootstrap)}
        scored = [mine]
        if isinstance(other, Mapping) and second:
            theirs = self.scores(other, benchmark, Path(run_dir) / "shards" / "compare", "benchmark, second player")
            scored.append(theirs)
            result.opponent = theirs.name
            self._comparison(result, mine, theirs, measured, seed)
        result.plots = self._plots(scored, seed)
        result.notes = notes(benchmark, self)
        result.files.append(_decisions(scored, Path(run_dir)))
        return result

    def _tables(self, scores: Scores, seed: int) -> dict[str, list[Mapping[str, Any]]]:
        tables: dict[str, list[Mapping[str, Any]]] = {}
        for title, groups in group_masks(scores.checker).items():
            rows: list[Mapping[str, Any]] = []
            for group, mask in groups.items():
                blunders = int((scores.loss[mask] > self.blunder).sum())
                figure = pr(scores, seed, self.bootstrap, mask)
                rows.append({title: group, "decisions": int(mask.sum()), "PR": figure, "blunders": blunders})
            tables[f"PR by {title}"] = rows
        return tables

    def _comparison(self, result: Report, mine: Scores, theirs: Scores, measured: Figure | None, seed: int) -> None:
        figures = self.summary(theirs, seed)
        result.figures.update({f"opponent_{name}": figure for name, figure in figures.items()})
        result.figures["pr_difference"] = difference = paired(mine, theirs, seed, self.bootstrap)
        result.figures["predicted_ppg"] = predicted = predicted_ppg(difference, self.decisions_per_game)
        if measured is not None:
            result.figures["measured_ppg"] = measured
            result.tables["Points per game against the opponent"] = [
                {"from": "predicted by the PR difference", "ppg": predicted},
                {"from": f"measured in {self.measured}", "ppg": measured},
            ]
        rows: list[Mapping[str, Any]] = []
        for title, groups in group_masks(mine.checker).items():
            for group, mask in groups.items():
                figure = paired(mine, theirs, seed, self.bootstrap, mask)
                rows.append({"group": f"{title}: {group}", "decisions": int(mask.sum()), "PR difference": figure})
        result.tables[f"PR of {mine.name} minus {theirs.name}, paired"] = rows

    def _plots(self, scored: list[Scores], seed: int) -> dict[str, Any]:
        mine = scored[0]
        plans = {plan: pr(mine, seed, self.bootstrap, mask) for plan, mask in group_masks(mine.checker)["game plan"].items()}
        drawn = {
            "pr_by_plan": plots.bars(plans, "PR (lower is better)", f"{mine.name}: PR by game plan, 95% interval by game"),
            "error_histogram": plots.histogram(
                {scores.name: scores.loss[scores.loss > 0] for scores in scored}, "points given away", "Errors above zero"
            ),
        }
        if mine.has_values:
            title = f"{mine.name}: value of the candidates"
            reference, engine = mine.checker.cubeless, mine.decided.points
            drawn["value_scatter"] = plots.scatter(reference, engine, "reference (points)", "engine (points)", title)
        return drawn


def paired(first: Scores, second: Scores, seed: int, replicates: int, rows: np.ndarray | None = None) -> Figure:
    """PR of ``first`` minus ``second`` over shared decisions, bootstrapped by game."""
    picked = slice(None) if rows is None else rows
    rng = generator(seed, "bgsage_pr.bootstrap")
    return stats.paired_bootstrap(first.loss[picked], second.loss[picked], first.checker.games[picked], rng, replicates, PR_SCALE)


def predicted_ppg(difference: Figure, decisions_per_game: float) -> Figure:
    """Points per game that a paired PR difference promises the first player."""
    factor = -decisions_per_game / PR_SCALE
    if difference.lo is None or difference.hi is None:
        return Figure(difference.value * factor, n=difference.n)
    return Figure(difference.value * factor, difference.hi * factor, difference.lo * factor, difference.n)


def notes(benchmark: Benchmark, scorer: BenchmarkScorer) -> list[str]:
    """How to read the numbers."""
    flags = ", ".join(f"{name} {'on' if on else 'off'}" for name, on in (("Jacoby", benchmark.jacoby), ("beavers", benchmark.beavers)))
    games = len(np.unique(benchmark.checker.games))
    return [
        f"Benchmark: {benchmark.source}, {len(benchmark.checker):,} checker decisions of {games:,} games, {flags}.",
        f"PR is 500 x the mean {scorer.metric} error; blunders cost more than {scorer.blunder:g} points; intervals bootstrap "
        f"games ({scorer.bootstrap:,} replicates). Value accuracy is on cubeless points. Seconds are processor time.",
        *(_cubeful_notes(benchmark) if scorer.metric == "cubeful" else []),
    ]


def _cubeful_notes(benchmark: Benchmark) -> list[str]:
    checker = benchmark.checker
    best = [int(row.argmax()) for row in np.split(checker.cubeless, checker.offsets[1:-1])]
    lost = checker.loss(checker.equity)[checker.offsets[:-1] + np.array(best)]
    owned = checker.cubes.owner != CENTRED
    share = "" if not owned.any() else f", {PR_SCALE * lost[owned].mean():.3g} with the cube owned"
    return [
        f"The plays that are best without a cube have a PR of {PR_SCALE * lost.mean():.3g} here{share}. The Jacoby rule counts "
        "only while the cube is centred: pr_owned_cube is free of it.",
    ]


def _measured(folder: str) -> Figure:
    figures = report_files.read(folder).figures
    for name in ("ppg_vr", "ppg_raw"):
        if name in figures:
            return figures[name]
    raise RaccoonError(f"evaluator.measured={folder}: its report has no points per game; give the run folder of an arena")


def _decisions(scored: list[Scores], run_dir: Path) -> str:
    """Keep what every decision cost, for later comparisons."""
    checker = scored[0].checker
    arrays: dict[str, Any] = {"keys": checker.keys, "games": checker.games}
    for label, scores in zip(("player", "opponent"), scored, strict=False):
        arrays.update({f"{label}.loss": scores.loss, f"{label}.chosen": checker.children[checker.offsets[:-1] + scores.decided.chosen]})
    write_arrays(run_dir / "decisions.npz", arrays)
    return "decisions.npz"

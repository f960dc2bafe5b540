"""``evaluator=cube_pr``: how much equity a player gives away by doubling, waiting, taking and passing on a benchmark.

Beside the player stands what its own outcome chances do under other cube models, and what the models do on the chances
of the reference: the first tells what a model is worth, the second takes the errors of the engine out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon import stats
from raccoon.checks import quoted, whole
from raccoon.config.instantiate import build
from raccoon.contracts import PR_SCALE, CubeModel, Cubes, Figure, Player, RaccoonError, Report
from raccoon.eval.benchmark.decisions import Benchmark
from raccoon.eval.benchmark.loader import EMBEDDED, load
from raccoon.eval.pr import cube_models, cube_scoring
from raccoon.eval.pr.cube_models import model_scores
from raccoon.eval.pr.cube_ready import ask_first
from raccoon.eval.pr.cube_scoring import CubeScores, score
from raccoon.eval.pr.cube_shards import CubeDecided, decide, takes_models
from raccoon.eval.references.compared import add_before, same_decisions
from raccoon.executor import Executor
from raccoon.files.npz import write_arrays
from raccoon.report import plots

__all__ = ["CubePR"]


class CubePR:
    """PR of cube decisions; see the module docstring. The rules are the benchmark's.

    ``compare``: the second player, a node, ``"opponent"`` (the run's opponent, where there is one) or null for none.
    ``models``: cube models by name (nodes; null: left out), for players of an engine that knows the outcome chances.
    ``games``: only the first so many games of the benchmark; null: all. ``before``: a second benchmark with other references of the same
    decisions, by which the answers are priced as well, paired by question (null: none).
    """

    name = "cube_pr"

    def __init__(
        self,
        executor: Executor,
        benchmark: str = EMBEDDED,
        compare: Mapping[str, Any] | str | None = "opponent",
        models: Mapping[str, Mapping[str, Any] | None] | None = None,
        bootstrap: int = stats.REPLICATES,
        games: int | None = None,
        shard_games: int = 4,
        before: str | None = None,
    ) -> None:
        if isinstance(compare, str) and compare != "opponent":
            raise RaccoonError(f"evaluator.compare={quoted(compare)}: give a player node, opponent or null")
        self.executor, self.source, self.compare = executor, str(benchmark), compare
        self.before = None if before is None else str(before)
        self.reads = ("player", "opponent") if compare == "opponent" else ("player",)
        self.bootstrap = whole("evaluator.bootstrap", bootstrap, 1)
        self.games = None if games is None else whole("evaluator.games", games, 1)
        self.shard_games = whole("evaluator.shard_games", shard_games, 1)
        self.nodes = {name: dict(node) for name, node in (models or {}).items() if node is not None}
        self.models = {name: _model(name, node) for name, node in self.nodes.items()}

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``. Raises RaccoonError when a player cannot play with a cube or the benchmark has no cube decisions."""
        benchmark = self.load()
        before = None if self.before is None else same_decisions(benchmark, load(self.before, "evaluator.before"))
        other = opponent if self.compare == "opponent" else self.compare
        made = self._ready(player, "player", benchmark)
        second = isinstance(other, Mapping) and dict(other) != dict(player)
        if isinstance(other, Mapping) and second:
            self._ready(other, "opponent" if self.compare == "opponent" else "evaluator.compare", benchmark)
        folder = Path(run_dir) / "shards"
        arguments = (self.games, self.nodes, self.shard_games, folder / "player", "cube decisions")
        decided = decide(self.executor, player, benchmark, *arguments)
        mine = score(decided.name, benchmark.cube, decided.own)
        result = Report(self.name, decided.name, None, seed, figures=self.summary(mine, decided, seed))
        scored = {"player": mine}
        if isinstance(other, Mapping) and second:
            theirs = decide(
                self.executor, other, benchmark, self.games, {}, self.shard_games, folder / "compare", "cube decisions, second player"
            )
            scored["opponent"] = score(theirs.name, benchmark.cube, theirs.own)
            result.opponent = theirs.name
            result.figures |= {f"opponent_{name}": figure for name, figure in self.summary(scored["opponent"], theirs, seed).items()}
            result.figures["pr_difference"] = cube_scoring.difference(mine, scored["opponent"], seed, self.bootstrap)
        self._tables(result, scored, seed)
        if before is not None:
            add_before(result, before, scored, seed, self.bootstrap)
        self._models(result, made, decided, benchmark, seed)
        result.notes += self._notes(benchmark)
        result.files.append(_write(scored, Path(run_dir)))
        return result

    def load(self) -> Benchmark:
        """The benchmark with the cube decisions of the chosen games; RaccoonError when none of them counts."""
        benchmark = load(self.source)
        cube = benchmark.cube.first_games(self.games)
        if not any(mask.any() for mask in cube_scoring.counted(cube)):
            raise RaccoonError(f"{benchmark.source}: has no cube decisions to score")
        return dataclasses.replace(benchmark, cube=cube)

    def summary(self, scores: CubeScores, decided: CubeDecided, seed: int) -> dict[str, Figure]:
        """The headline figures of one player."""
        n = len(scores.loss)
        masks = {"pr": None, "pr_doubler": ~scores.receiver, "pr_receiver": scores.receiver}
        masks["pr_measured"] = scores.cube.measured[scores.rows]
        figures = {name: cube_scoring.pr(scores, seed, self.bootstrap, mask) for name, mask in masks.items() if mask is None or mask.any()}
        figures["right_answers"] = stats.proportion_ci(int((scores.loss <= 0).sum()), n)
        figures["seconds_per_decision"] = Figure(decided.seconds / n, n=n)
        figures["evaluations_per_decision"] = Figure(decided.evaluations / n, n=n)
        return figures

    def _ready(self, node: Mapping[str, Any], at: str, benchmark: Benchmark) -> Player:
        first = benchmark.cube.take(np.arange(1))
        cubes = Cubes.centred(1, benchmark.rules)
        return ask_first(node, at, lambda made: made.double(first.boards, cubes))

    def _tables(self, result: Report, scored: Mapping[str, CubeScores], seed: int) -> None:
        mine, theirs = scored["player"], scored.get("opponent")
        everything = {"all": np.ones(len(mine.loss), bool), "measured references": mine.cube.measured[mine.rows]}
        groups = {"questions": {name: mask for name, mask in everything.items() if mask.any()}, **cube_scoring.group_masks(mine)}
        for title, masks in groups.items():
            rows: list[Mapping[str, Any]] = []
            for group, mask in masks.items():
                row: dict[str, Any] = {title: group, "n": int(mask.sum()), "PR": cube_scoring.pr(mine, seed, self.bootstrap, mask)}
                if theirs is not None:
                    row[f"PR of {theirs.name}"] = cube_scoring.pr(theirs, seed, self.bootstrap, mask)
                    row["difference"] = cube_scoring.difference(mine, theirs, seed, self.bootstrap, mask)
                rows.append(row)
            result.tables["Cube PR" if title == "questions" else f"Cube PR by {title}"] = rows
        for scores in scored.values():
            result.tables[f"Errors of {scores.name}"] = cube_scoring.errors(scores)
        plans = {row["game plan"]: row["PR"] for row in result.tables["Cube PR by game plan"]}
        result.plots["cube_pr_by_plan"] = plots.bars(
            plans, "PR (lower is better)", f"{mine.name}: cube PR by game plan, 95% interval by game"
        )

    def _models(self, result: Report, player: Player, decided: CubeDecided, benchmark: Benchmark, seed: int) -> None:
        """The table of cube models, on the player's chances and on the reference's."""
        found = model_scores(player, decided, self.models, benchmark.cube, benchmark.rules)
        rows = cube_models.table(found, seed, self.bootstrap)
        result.tables["Cube models"] = rows
        for one in found:
            if one.coherent is not None and one.chances == decided.name and one.model == "own":
                result.figures["coherent"] = one.coherent
        if self.models and not takes_models(player):
            result.notes.append(f"{decided.name} decides in its own way: other cube models need an engine that knows the outcome chances.")
        bars = {f"{row['chances']}, {row['model']}": row["PR"] for row in rows}
        result.plots["cube_models"] = plots.bars(bars, "PR (lower is better)", "Cube PR by model, 95% interval by game")

    def _notes(self, benchmark: Benchmark) -> list[str]:
        cube = benchmark.cube
        doubles, takes = cube_scoring.counted(cube)
        full = cube.measured
        notes = [
            f"Benchmark: {benchmark.source}, {len(cube):,} cube positions of {len(np.unique(cube.games)):,} games, {int(doubles.sum()):,} "
            f"doubles and {int(takes.sum()):,} takes, {benchmark.rules.flags()}.",
            f"PR is {PR_SCALE:g} x the mean error a question, in points at the cube before doubling; intervals bootstrap games "
            f"({self.bootstrap:,} replicates). Cube models: minus first is paired, to the first row of the same chances; reference: the "
            "models alone, on the benchmark's chances; coherent: the share of positions where owning the cube >= a centred cube >= the "
            "other side's.",
        ]
        left_out = int((cube.has_double | cube.has_take).sum()) - int((doubles | takes).sum())
        if left_out:
            notes.append(f"{left_out:,} positions where the side on roll may not double are left out.")
        if full.any():
            notes.append(f"{int(full.sum()):,} positions have measured references (tier rollout, level Rollout): games played to the end.")
        else:
            notes.append(
                "No position has a measured reference (tier rollout and level Rollout): every reference comes out of a search or a "
                "rollout that was cut short, which reads Janowski's model where it ends; that flatters the model."
            )
        return notes


def _model(name: str, node: Mapping[str, Any]) -> CubeModel:
    at = f"evaluator.models.{name}"
    return build(node, at, CubeModel)


def _write(scored: Mapping[str, CubeScores], run_dir: Path) -> str:
    """Keep what every answer cost, in the form of ``bgsage_pr``: the jobs of a sweep are compared on it."""
    mine = scored["player"]
    keys = np.char.add(mine.cube.keys[mine.rows], np.where(mine.receiver, "/take", "/double"))
    arrays: dict[str, Any] = {"keys": keys, "games": mine.games}
    for label, scores in scored.items():
        arrays |= {f"{label}.loss": scores.loss, f"{label}.yes": scores.yes}
    write_arrays(run_dir / "decisions.npz", arrays)
    return "decisions.npz"

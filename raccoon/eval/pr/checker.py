"""``evaluator=bgsage_pr``: how much equity a player gives away on a benchmark refereed by Open Sage.

Checker plays only: every candidate is a complete turn. PR = 500 x mean(best - chosen) by the reference, cubeless (players then
choose without a cube) or cubeful (they choose with a live cube, under the benchmark's rules). Two players on
the same decisions are compared in pairs, and the difference predicts points per game: errors per decision add up over
the decisions of a game. That is a model, which the arenas test.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.checks import quoted
from raccoon.contracts import PR_SCALE, Figure, RaccoonError, Report
from raccoon.eval.pr.checker_scoring import Scores, accuracy_tables, group_masks, pr
from raccoon.eval.pr.cube_ready import CUBELESS_MOVES, cubeless_twin
from raccoon.eval.pr.scorer import BenchmarkScorer, notes, paired
from raccoon.executor import Executor
from raccoon.files.npz import write_arrays
from raccoon.report import plots, report_files

__all__ = ["BGSagePR", "predicted_ppg"]


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
        """See ``Evaluator.run``. Raises RaccoonError when the benchmark is unusable."""
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


def predicted_ppg(difference: Figure, decisions_per_game: float) -> Figure:
    """Points per game that a paired PR difference promises the first player."""
    factor = -decisions_per_game / PR_SCALE
    if difference.lo is None or difference.hi is None:
        return Figure(difference.value * factor, n=difference.n)
    return Figure(difference.value * factor, difference.hi * factor, difference.lo * factor, difference.n)


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

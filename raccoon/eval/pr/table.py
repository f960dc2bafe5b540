"""``evaluator=pr_table``: several players on one benchmark, one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.checks import quoted
from raccoon.config.instantiate import build
from raccoon.contracts import Player, RaccoonError, Report
from raccoon.eval.pr.checker_scoring import Scores
from raccoon.eval.pr.scorer import BenchmarkScorer, notes, paired
from raccoon.executor import Executor
from raccoon.report import plots

__all__ = ["PRTable"]


class PRTable(BenchmarkScorer):
    """PR of every player of ``players`` (name -> node; null: left out) with paired differences to one of them.

    ``reference`` names that one; null is the first. The run's own player joins as the last row unless it is one of them.
    Settings as for ``bgsage_pr``.
    """

    name = "pr_table"
    reads = ("player",)

    def __init__(
        self, executor: Executor, players: Mapping[str, Mapping[str, Any] | None], reference: str | None = None, **settings: Any
    ) -> None:
        super().__init__(executor, **settings)
        wanted = {name: node for name, node in players.items() if node is not None}
        if not wanted:
            raise RaccoonError("evaluator.players is empty: name at least one player")
        if reference is not None and reference not in wanted:
            raise RaccoonError(f"evaluator.reference={quoted(reference)}: no such player; there are {', '.join(wanted)}")
        for name, node in wanted.items():
            if not isinstance(node, Mapping):
                raise RaccoonError(
                    f"evaluator.players.{name}={quoted(node)}: give a player node; options of a group go in the defaults list"
                )
        self.players = {name: dict(node) for name, node in wanted.items()}
        self.reference = next(iter(wanted)) if reference is None else reference

    def run(self, player: Mapping[str, Any] | None, opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``; the opponent takes no part."""
        benchmark = self.load()
        nodes = dict(self.players)
        if player is not None and dict(player) not in nodes.values():
            nodes[f"player ({player.get('name') or 'this run'})"] = dict(player)
        for name, node in nodes.items():
            # a missing package or file is told before the first player is scored, and so is one that cannot play with a cube
            build(node, f"evaluator.players.{name}", Player)
            self.check(node, f"evaluator.players.{name}", benchmark)
        scored: dict[str, Scores] = {}
        for number, (name, node) in enumerate(nodes.items()):
            folder = Path(run_dir) / "shards" / f"{number:02d}"
            scored[name] = self.scores(node, benchmark, folder, f"benchmark: {name}")
        result = Report(self.name, ", ".join(nodes), None, seed)
        against = scored[self.reference]
        rows: list[Mapping[str, Any]] = []
        for name, scores in scored.items():
            figures = self.summary(scores, seed)
            result.figures.update({f"{name}.{key}": figure for key, figure in figures.items()})
            if scores is not against:
                result.figures[f"{name}.pr_difference"] = paired(scores, against, seed, self.bootstrap)
            rows.append(self._row(name, scores, result, f"minus {self.reference}"))
        result.tables["PR"] = rows
        bars = {name: result.figures[f"{name}.pr"] for name in scored}
        result.plots["pr"] = plots.bars(bars, "PR (lower is better)", "PR, 95% interval by game")
        result.notes = notes(benchmark, self)
        self.conclude(result, list(scored))
        return result

    def conclude(self, result: Report, names: list[str]) -> None:
        """Add to ``result`` what a subclass makes of the figures of the players ``names``."""

    def _row(self, name: str, scores: Scores, result: Report, difference: str) -> dict[str, Any]:
        figures = result.figures
        return {
            "player": name,
            "PR": figures[f"{name}.pr"],
            difference: figures.get(f"{name}.pr_difference"),
            "blunders": int((scores.loss > self.blunder).sum()),
            "MSE": _value(figures.get(f"{name}.value_mse")),
            "R2": _value(figures.get(f"{name}.value_r2")),
            "s/decision": figures[f"{name}.seconds_per_decision"].value,
            "evaluations/decision": round(figures[f"{name}.evaluations_per_decision"].value, 1),
        }


def _value(figure: Any) -> float | None:
    return None if figure is None else figure.value

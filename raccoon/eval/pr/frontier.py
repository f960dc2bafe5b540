"""``evaluator=frontier``: how well players play for the time they take, all on the same decisions in one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raccoon.contracts import Figure, Report
from raccoon.eval.pr.table import PRTable
from raccoon.report import plots

__all__ = ["Frontier", "not_worse", "pareto"]


class Frontier(PRTable):
    """A ``PRTable`` with PR against seconds per decision, the best trades, and the fastest player that holds the reference's level.

    A player is not worse than the reference when the 95% interval of its paired PR difference reaches down to 0: with few
    decisions that says little, so the difference stands beside it. Seconds are of one core, choosing only.
    """

    name = "frontier"

    def conclude(self, result: Report, names: list[str]) -> None:
        """Adds the two tables, the plot and, where a player holds the level, the figure ``seconds_over_reference`` of the fastest."""
        figures = result.figures
        seconds = {name: figures[f"{name}.seconds_per_decision"].value for name in names}
        level = {name: figures[f"{name}.pr"] for name in names}
        best = pareto({name: (seconds[name], level[name].value) for name in names})
        result.tables["Best trades"] = [
            {
                "player": name,
                "PR": level[name],
                "s/decision": seconds[name],
                f"times {self.reference}": seconds[name] / seconds[self.reference],
            }
            for name in best
        ]
        holds = [name for name in names if name != self.reference and not_worse(figures[f"{name}.pr_difference"])]
        rows: list[Mapping[str, Any]] = [
            {
                "player": name,
                f"PR minus {self.reference}": figures[f"{name}.pr_difference"],
                "s/decision": seconds[name],
                f"times {self.reference}": seconds[name] / seconds[self.reference],
            }
            for name in sorted(holds, key=lambda name: seconds[name])
        ]
        result.tables[f"Not worse than {self.reference}, fastest first"] = rows
        if rows:
            result.figures["seconds_over_reference"] = Figure(rows[0][f"times {self.reference}"])
            result.notes.append(
                f"Fastest player that is not worse than {self.reference} (the 95% interval of its paired difference reaches 0 or below): "
                f"{rows[0]['player']}, {rows[0][f'times {self.reference}']:.3g} times its seconds per decision."
            )
        else:
            result.notes.append(f"Every other player is worse than {self.reference} on these decisions.")
        result.plots["frontier"] = plots.frontier(seconds, level, best, "seconds per decision (one core)", "PR (lower is better)")


def not_worse(difference: Figure) -> bool:
    """Does the interval of a difference of PRs (its value, where it has none) reach down to 0?"""
    return (difference.value if difference.lo is None else difference.lo) <= 0


def pareto(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names that no other beats in both numbers (less is better), by the first number."""
    best: list[str] = []
    for name in sorted(points, key=lambda name: points[name]):
        if not best or points[name][1] < points[best[-1]][1]:
            best.append(name)
    return best

"""One report over all stages: a row each, and the PR of every epoch against the minutes of all work before it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.data.label_sets.store import META, read_meta
from raccoon.eval.benchmark.loader import SHIPPED
from raccoon.report import plots
from raccoon.report import report_files as reports
from raccoon.runs.claims import run_state
from raccoon.runs.stages import SET, Stage

__all__ = ["check_reports", "write_report"]

_PR = ("bgsage_pr/pr", "pr")
_POINTS = ("vr_arena/ppg_vr", "ppg_vr")
_BENCHMARKS = ("final.bgsage_pr.benchmark", "evaluator.benchmark")
_EPOCHS = "callbacks.pr.benchmark"
"""Keys of settings that say on which benchmark a figure is."""
Settings = Mapping[str, Any]
_MSE = ("bgsage_pr/value_mse", "value_mse")


class _Result:
    """What a stage left in its folder, made by ``settings``; ``known``: minutes of the sets that
    stages before it made or found, by their folders."""

    def __init__(self, stage: Stage, settings: Settings, known: dict[Path, float]) -> None:
        self.stage, self.settings = stage, settings
        place = stage.folder / SET
        self.meta: Mapping[str, Any] = read_meta(place) if (place / META).exists() else {}
        home, minutes = _home(place), float(self.meta.get("seconds", 0.0)) / 60
        self.label_minutes = max(0.0, minutes - known.get(home, 0.0))  # a set that grew since tells of all its rows
        known[home] = max(minutes, known.get(home, 0.0))

    @cached_property
    def report(self) -> Report | None:
        return reports.read(self.stage.folder) if (self.stage.folder / "report.json").exists() else None

    @property
    def epochs(self) -> Sequence[Mapping[str, Any]]:
        rows = self.report.tables.get("epochs", []) if self.report is not None else []
        for row in rows:
            if not all(isinstance(row.get(key), int | float) for key in ("epoch", "seconds")):
                raise RaccoonError(f"{self.stage.folder / 'report.json'}: an epoch has no number or no seconds; the file was changed")
        return rows

    @property
    def minutes(self) -> float:
        """Of the epochs; of a stage without epochs, those of its measurement."""
        if self.report is None:
            return 0.0
        return (sum(row["seconds"] for row in self.epochs) if self.epochs else self.report.seconds) / 60

    def figure(self, names: Sequence[str]) -> Figure | None:
        figures = self.report.figures if self.report is not None else {}
        found = next((figures[name] for name in names if name in figures), None)
        return None if found is None or not math.isfinite(found.value) else found

    @property
    def benchmark(self) -> str | None:
        """On which ``PR`` was measured, where the settings are known."""
        return next((self.settings[key] for key in _BENCHMARKS if key in self.settings), None)

    def row(self, spent: float) -> dict[str, Any]:
        return {
            "stage": self.stage.name,
            "kind": self.stage.kind,
            "state": run_state(self.stage.folder)[0],
            "labels": self.meta.get("label", "").removeprefix("labels "),
            "rows": self.meta.get("rows"),
            "label minutes": self.label_minutes,
            "minutes": self.minutes,
            "minutes in all": spent,
            "epochs": len(self.epochs) or None,
            "PR": self.figure(_PR),
            "benchmark": self.benchmark if self.figure(_PR) else None,
            "PR after its last epoch": self.epochs[-1].get("val/pr") if self.epochs else None,
            "value MSE": self.figure(_MSE),
            "points a game": self.figure(_POINTS),
            "held-out MSE": self.figure(("val/mse",)),
        }


def _home(folder: Path) -> Path:
    """Where the shards lie that ``folder`` links to."""
    return next((shard.resolve().parent for shard in sorted(folder.glob("shard-*.npy"))), folder)


def check_reports(stages: Sequence[Stage], settings: Mapping[str, Settings]) -> None:
    """Raise RaccoonError naming a report of an earlier command that the one over all stages could not be made from."""
    known: dict[Path, float] = {}
    for stage in stages:
        _Result(stage, settings.get(stage.name, {}), known).row(0.0)


def write_report(stages: Sequence[Stage], settings: Mapping[str, Settings], run_dir: Path, seed: int) -> Path:
    """Write ``report.json`` and its companions for the stages as they are now, in place of an earlier report; print the table.

    ``settings``: those of each stage, by its name and dotted keys.
    """
    known: dict[Path, float] = {}
    rows: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    spent = 0.0
    for result in (_Result(stage, settings.get(stage.name, {}), known) for stage in stages):
        spent += result.label_minutes
        for epoch in result.epochs:
            spent += epoch["seconds"] / 60
            where = result.settings.get(_EPOCHS)
            curve.append(_point(result.stage.name, spent, where, epoch.get("val/pr"), epoch.get("val/mse"), epoch["epoch"]))
        if not result.epochs:
            spent += result.minutes
        final = result.figure(_PR)
        if final is not None:
            curve.append(_point(result.stage.name, spent, result.benchmark, final, None, None))
        rows.append(result.row(spent))
    report = Report("train", "stages", None, seed, 60 * spent, tables={"stages": rows, "learning curve": curve})
    for row in rows:  # the last one counts
        found = {"pr": row["PR"], "ppg_vr": row["points a game"]}
        report.figures |= {name: figure for name, figure in found.items() if figure is not None}
    report.figures["minutes"] = Figure(spent)
    report.notes.append("minutes are those of making labels and of epochs, by whichever command; PR between epochs has no interval")
    names = dict.fromkeys(point["benchmark"] for point in curve if point["PR"] is not None)
    for name in names:
        title = "PR" if name is None else f"PR on the {name} benchmark" if name in SHIPPED else f"PR on {name}"
        stem = "learning-curve" if len(names) == 1 else f"learning-curve-{Path(name).stem if name else 'unknown'}"
        report.plots[stem] = plots.intervals(_series(curve, name), "minutes", "PR", f"{title} against minutes of all work before")
    (run_dir / "report.json").unlink(missing_ok=True)
    written = reports.write(report, run_dir)
    reports.show(reports.rich_table(rows, "stages"))
    print(f"report: {written.with_suffix('.md')}")
    return written


def _point(
    stage: str, minutes: float, benchmark: str | None, pr: float | Figure | None, mse: float | None, epoch: float | None
) -> dict[str, Any]:
    return {"stage": stage, "minutes": round(minutes, 3), "epoch": epoch, "benchmark": benchmark, "PR": pr, "held-out MSE": mse}


def _series(curve: Sequence[Mapping[str, Any]], benchmark: str | None) -> dict[str, dict[float, Figure]]:
    found: dict[str, dict[float, Figure]] = {}
    for point in curve:
        pr = point["PR"]
        if pr is not None and point["benchmark"] == benchmark:
            found.setdefault(point["stage"], {})[point["minutes"]] = pr if isinstance(pr, Figure) else Figure(pr)
    return found

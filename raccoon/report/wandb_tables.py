"""A written report as loggers show it: figures as scalars everywhere; in Weights & Biases intervals, tables and plots as well."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from raccoon.contracts import Figure, Report
from raccoon.report import report_files as reports

__all__ = ["log_report"]

_BY_EPOCH = ("train/", "val/")
"""What figures of the exported epoch begin with: once more, at step 0, they would bend the curves of a training back."""


def log_report(loggers: Iterable[Any], folder: Path) -> None:
    """Send the report in ``folder``, and those in ``folder/final/NAME``, to Lightning ``loggers``.

    A logger gets the figures of the report by name, except those of single epochs, which it has had. One whose ``experiment`` is
    a wandb run gets all of them, their intervals and n into its summary (``NAME.lo``, ``.hi``, ``.n``), its tables as
    ``tables/TITLE`` and the plots as ``plots/NAME``.
    """
    report = reports.read(folder)
    parts = {path.parent.name: reports.read(path) for path in sorted(folder.glob("final/*/report.json"))}
    for logger in loggers:
        if _is_wandb(logger):
            _send(logger.experiment, report, folder, "")
            for name, part in parts.items():
                _send(logger.experiment, part, folder / "final" / name, f"{name}/")
        else:
            logger.log_metrics(dict(_scalars(report.figures)), step=0)
            logger.finalize("success")


def _is_wandb(logger: Any) -> bool:
    return any(kind.__name__ == "WandbLogger" for kind in type(logger).__mro__)


def _send(run: Any, report: Report, folder: Path, prefix: str) -> None:
    import wandb

    run.summary.update(dict(_summary(report.figures, prefix)))
    media: dict[str, Any] = {}
    for title, rows in report.tables.items():
        heads, cells = _cells(rows)
        if cells:
            media[f"tables/{prefix}{title}"] = wandb.Table(columns=[*heads], data=[*cells])
    for path in sorted(folder.glob("*.png")):
        media[f"plots/{prefix}{path.stem}"] = wandb.Image(str(path), caption=path.stem)
    if media:
        run.log(media)


def _scalars(figures: Mapping[str, Figure]) -> Iterable[tuple[str, float]]:
    for name, figure in figures.items():
        if math.isfinite(figure.value) and not name.startswith(_BY_EPOCH):
            yield name, figure.value


def _summary(figures: Mapping[str, Figure], prefix: str) -> Iterable[tuple[str, float | int]]:
    for name, figure in figures.items():
        for key, number in (("", figure.value), (".lo", figure.lo), (".hi", figure.hi), (".n", figure.n)):
            if number is not None and math.isfinite(number):
                yield f"{prefix}{name}{key}", number


def _cells(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Column names and values; a figure has its interval in two more columns, so that every column is of one type."""
    flat = [dict(reports.flat_row(row)) for row in rows]
    heads = list(dict.fromkeys(key for row in flat for key in row))
    numeric = {
        head: all(isinstance(row.get(head), int | float | None) and not isinstance(row.get(head), bool) for row in flat) for head in heads
    }
    return heads, [[_cell(row.get(head), numeric[head]) for head in heads] for row in flat]


def _cell(value: Any, number: bool) -> Any:
    if value is None:
        return None
    return float(value) if number else str(value)

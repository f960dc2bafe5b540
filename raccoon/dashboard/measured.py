"""Reports of a run folder, checked: what no program of ours wrote is refused, so that charts and tables may trust the rest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.report import report_files as reports

__all__ = ["read_report", "read_tables", "usable"]

_LARGEST = 1e100  # beyond any figure; differences and ratios of what is below stay finite


def usable(value: Any) -> TypeGuard[float]:
    """Is ``value`` a number that a chart can show?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def read_report(folder: Path) -> Report:
    """The report in ``folder``, ends of intervals that are no finite numbers left out. Raises RaccoonError for what is none."""
    try:
        report = reports.read(folder)
    except RecursionError as error:
        raise RaccoonError("report.json: nested too deeply") from error
    texts = [report.player, report.evaluator, *([] if report.opponent is None else [report.opponent])]
    if not all(isinstance(text, str) for text in texts) or not isinstance(report.notes, list) or not usable(report.seconds):
        raise RaccoonError("report.json: not a report (player, opponent, evaluator, seconds or notes)")
    figures = {name: _finite(name, figure) for name, figure in report.figures.items()}
    tables = {title: [_finite_row(title, row) for row in rows] for title, rows in report.tables.items()}
    return dataclasses.replace(report, figures=figures, tables=tables)


def read_tables(folder: Path, report: Report) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Tables by title: those of ``report``, and of the measurements in ``folder/final/NAME`` as ``NAME/TITLE``. Raises RaccoonError."""
    found = dict(report.tables)
    for path in sorted(folder.glob("final/*/report.json")):
        found |= {f"{path.parent.name}/{title}": rows for title, rows in read_report(path.parent).tables.items()}
    return {title: rows for title, rows in found.items() if rows}


def _finite_row(title: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _finite(f"{title}: {key}", cell) if isinstance(cell, Figure) else cell for key, cell in row.items()}


def _finite(name: str, figure: Figure) -> Figure:
    numbers = (figure.value, figure.lo, figure.hi, figure.n)
    if not all(number is None or (isinstance(number, int | float) and not isinstance(number, bool)) for number in numbers):
        raise RaccoonError(f"report.json: {name}: is no number")
    value = figure.value if usable(figure.value) else math.nan
    lo, hi, n = (number if usable(number) else None for number in numbers[1:])
    return Figure(value, lo, hi, None if n is None else int(n))

"""Checks of evaluators and executors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.contracts import Evaluator, Figure, Report
from raccoon.executor import PersistentExecutor, ProcessExecutor, Work, run_shards
from raccoon.report.measurement import measure
from raccoon.rng import generator
from raccoon.testing.subjects import expect, subject

__all__ = ["check_evaluator", "check_executor"]

_RANDOM = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.RandomEngine", "seed": 1}}


def check_evaluator(
    node: Mapping[str, Any],
    folder: Path,
    player: Mapping[str, Any] = _RANDOM,
    opponent: Mapping[str, Any] | None = _RANDOM,
    workers: int = 2,
) -> Report:
    """Check an evaluator given as a config node (small sizes, please); results go to new folders under ``folder``.

    A sound report that can be written; the same figures for the same seed in one process, in ``workers`` of them (0: in one once
    more), and when run again in the folder of an interrupted run. Returns the report.
    """
    from raccoon.report import report_files as reports

    made = [_run(node, folder / name, workers, player, opponent) for name, workers in (("one", 0), ("one", 0), ("two", workers))]
    figures = [report.figures for report in made]
    first, *rest = ({name: figure for name, figure in each.items() if not _is_time(name)} for each in figures)
    for other in rest:
        expect(set(first) == set(other), f"the same run reports different figures: {set(first) ^ set(other)}")
        for name, figure in first.items():
            same = figure.n == other[name].n and math.isclose(figure.value, other[name].value, abs_tol=1e-12)
            expect(same, f"figure {name!r} differs between runs with the same seed: {figure} and {other[name]}")
    written = reports.write(made[-1], folder / "two")
    expect(set(json.loads(written.read_text(encoding="utf-8"))["figures"]) == set(made[-1].figures), "report.json must hold the figures")
    return made[-1]


def _run(node: Mapping[str, Any], folder: Path, workers: int, player: Any, opponent: Any) -> Report:
    evaluator = subject(node, executor=ProcessExecutor(workers, progress=False))
    expect(isinstance(evaluator, Evaluator), f"{type(evaluator).__name__} lacks a method or attribute of raccoon.contracts.Evaluator")
    folder.mkdir(parents=True, exist_ok=True)
    report = measure(evaluator, player, opponent, folder, 1)
    _check_report(report)
    return report


def _is_time(name: str) -> bool:
    """Figures about speed may differ from run to run, and be left out of a continued one."""
    return any(word in name for word in ("second", "speed", "per_s", "/s", "time"))


def _check_report(report: Any) -> None:
    expect(isinstance(report, Report), "run must return a raccoon.contracts.Report")
    expect(report.evaluator and report.player, "a report names its evaluator and player")
    expect(report.figures or report.tables, "a report needs a figure or a table")
    expect(report.seconds >= 0, "seconds must not be negative")
    for name, figure in report.figures.items():
        expect(isinstance(figure, Figure), f"figure {name!r} must be a raccoon.contracts.Figure")
        if figure.lo is not None and figure.hi is not None:
            expect(figure.lo <= figure.value <= figure.hi, f"figure {name!r} lies outside its own interval: {figure}")
        expect(figure.n is None or figure.n > 0, f"figure {name!r} has n={figure.n}")
    for title, rows in report.tables.items():
        expect(len({tuple(row) for row in rows}) <= 1, f"the rows of table {title!r} have different keys")


def check_executor(executor: Any, folder: Path) -> None:
    """Check an ``Executor`` (object or config node): each shard once, its own result, errors passed on; works in ``folder``.

    One that keeps workers: several lots of shards at a time.
    """
    executor = subject(executor)
    job, work = {"seed": 3}, Work("check")
    found = dict(executor.map(_draw, job, [4, 1, 2], work))
    expect(set(found) == {1, 2, 4}, "map must yield each index exactly once")
    for index, result in found.items():
        expect(np.array_equal(result["x"], _draw(job, index)["x"]), f"shard {index} has another shard's result")
    whole = run_shards(executor, _draw, job, 5, folder, work)
    expect(
        np.array_equal(np.stack([r["x"] for r in whole]), np.stack([_draw(job, i)["x"] for i in range(5)])), "run_shards mixes up shards"
    )
    expect(list(executor.map(_draw, job, [], work)) == [], "no indices, no results")
    if isinstance(executor, PersistentExecutor):
        _check_kept(executor)
    try:
        list(executor.map(_fail, job, [0], work))
    except ArithmeticError:
        return
    raise AssertionError("an error in a shard must reach the caller")


def _check_kept(executor: PersistentExecutor) -> None:
    """Lots that are under way together, asked for in another order than they were started, and more after those."""
    workers = executor.open()
    try:
        for seeds in ((1, 2), (3, 4)):
            lots = {seed: workers.start(_draw, {"seed": seed}, [0, 5]) for seed in seeds}
            for seed, lot in reversed(lots.items()):
                found = dict(lot)
                expect(set(found) == {0, 5}, "every lot must have each of its shards exactly once")
                for index, result in found.items():
                    expect(np.array_equal(result["x"], _draw({"seed": seed}, index)["x"]), f"shard {index} of one lot has another's result")
    finally:
        workers.close()
        workers.close()


def _draw(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {"x": generator(job["seed"], "check", index).normal(size=3)}


def _fail(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    raise ArithmeticError("on purpose")

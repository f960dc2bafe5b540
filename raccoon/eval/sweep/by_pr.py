"""One table and one plot of the runs of a sweep, by PR (arenas: ``collect_arenas``): paired differences, the selection rule."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raccoon import stats
from raccoon.contracts import PR_SCALE, RaccoonError, Report
from raccoon.eval.pr.frontier import not_worse, pareto
from raccoon.eval.sweep.by_arena import collect_arenas, is_arena, job_names
from raccoon.eval.sweep.jobs import config_names, scored_folder
from raccoon.files.npz import read_arrays
from raccoon.report import plots, report_files
from raccoon.rng import generator
from raccoon.runs.sweeps import read_jobs, titles, told

__all__ = ["collect"]


def collect(folder: Path, seed: int = 1, replicates: int = stats.REPLICATES) -> Report:
    """A report on every finished job in the sweep folder ``folder`` (a run folder a job, of ``bgsage_pr``, ``cube_pr`` or an arena,
    or of a training whose network was scored at its end, which is then called after what sets its configuration apart).

    Rule: of the configurations whose paired PR difference to the lowest PR has a 95% interval that reaches 0, the one with the
    fewest seconds per decision is chosen. Raises RaccoonError when there are no two jobs, or their decisions differ.
    """
    start = time.perf_counter()
    listed = read_jobs(folder)
    left_out, called = told(listed), titles(listed)
    found = sorted((path.parent for path in Path(folder).glob("*/report.json")), key=lambda path: (len(path.name), path.name))
    arenas = [job for job in found if is_arena(job)]
    jobs = [job for job in found if (scored_folder(job) / "decisions.npz").is_file()]
    if len(arenas) > 1 and not jobs:
        return _marked(collect_arenas(arenas, seed, called), left_out, _others(found, arenas, called), "they played no games")
    others = _others(found, jobs, called)
    if len(jobs) < 2:
        count = max(len(jobs), len(arenas))
        why = f" ({left_out})" if left_out else ""
        raise RaccoonError(f"{folder}: holds {count} finished runs of PR or of an arena{why}; give the folder of a sweep with two or more")
    scored = [scored_folder(job) for job in jobs]
    reports = [_needed(report_files.read(folder), folder) for folder in scored]
    losses, games = _losses(scored)
    names = [called[job.name] for job in jobs] if called else job_names(reports, jobs) if scored == jobs else config_names(jobs)
    level = {name: one.figures["pr"] for name, one in zip(names, reports, strict=True)}
    seconds = {name: one.figures["seconds_per_decision"].value for name, one in zip(names, reports, strict=True)}
    lowest = min(names, key=lambda name: level[name].value)
    against = losses[names.index(lowest)]
    rng_name = "collect.bootstrap"
    difference = {
        name: stats.paired_bootstrap(loss, against, games, generator(seed, rng_name), replicates, PR_SCALE)
        for name, loss in zip(names, losses, strict=True)
    }
    holds = [name for name in names if name == lowest or not_worse(difference[name])]
    chosen = min(holds, key=lambda name: seconds[name])
    result = Report("collect", chosen, None, seed, 0.0)
    result.figures = {f"{name}.pr": figure for name, figure in level.items()}
    result.tables["Sweep"] = [
        {
            "job": job.name,
            "settings" if called else "player": name,
            "PR": level[name],
            "minus lowest": None if name == lowest else difference[name],
            "evaluations/decision": round(one.figures["evaluations_per_decision"].value, 1),
            "s/decision": seconds[name],
            "chosen": "yes" if name == chosen else "",
        }
        for job, name, one in zip(jobs, names, reports, strict=True)
    ]
    best = pareto({name: (seconds[name], level[name].value) for name in names})
    result.plots["sweep"] = plots.frontier(seconds, level, best, "seconds per decision (processor time)", "PR (lower is better)")
    result.notes = [
        f"{len(against):,} decisions of {len(np.unique(games))} games, the same for all; intervals bootstrap games.",
        f"Lowest PR: {lowest}. Chosen, the fastest whose paired difference to it has an interval that reaches 0: {chosen}.",
        "The lowest of several PRs flatters: score the chosen one again on decisions that did not choose it.",
    ]
    result.seconds = time.perf_counter() - start
    return _marked(result, left_out, others, "they have no PR")


def _marked(result: Report, left_out: str, others: str, why: str) -> Report:
    """Says first which jobs of the sweep are not among those compared: those not done, and finished ``others``."""
    if others:
        result.notes.insert(0, f"Finished, but left out, for {why}: {others}.")
    if left_out:
        result.notes.insert(0, f"Not all jobs are in: {left_out}. What is said of the others may change.")
    return result


def _others(found: Sequence[Path], compared: Sequence[Path], called: Mapping[str, str]) -> str:
    """The finished runs that are not compared, as the sweep names its jobs; earlier collections are none."""
    others = [job for job in found if job not in compared and report_files.read(job).evaluator != "collect"]
    return ", ".join(f"job {job.name} ({called[job.name]})" if job.name in called else f"job {job.name}" for job in others)


def _losses(jobs: list[Path]) -> tuple[list[Any], Any]:
    losses, keys, games = [], None, None
    for job in jobs:
        found = read_arrays(job / "decisions.npz", ("keys", "games", "player.loss"))
        if keys is None:
            keys, games = found["keys"], found["games"]
        elif not np.array_equal(keys, found["keys"]):
            raise RaccoonError(f"{job}: was scored on other decisions than {jobs[0]}; only runs on the same ones can be compared")
        losses.append(found["player.loss"])
    return losses, games


def _needed(one: Report, job: Path) -> Report:
    """``one`` if it has the figures that a sweep of ``bgsage_pr`` is judged by."""
    missing = [name for name in ("pr", "seconds_per_decision", "evaluations_per_decision") if name not in one.figures]
    if missing:
        raise RaccoonError(f"{job}: its report ({one.evaluator}) has no figure {missing[0]}; take that folder out of the sweep")
    return one

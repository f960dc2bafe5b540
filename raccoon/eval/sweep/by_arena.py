"""One table and one plot of the arena runs of a sweep: the same dice for every job, so that jobs are compared game by game."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.report import plots, report_files

__all__ = ["collect_arenas", "is_arena", "job_names"]


def is_arena(job: Path) -> bool:
    """Whether a finished run folder is one of games or matches (``vr_arena``, ``gnubg_harness``, ``cube_arena``)."""
    return (job / "games.csv").is_file() and not {"ppg_raw", "match_wins"}.isdisjoint(report_files.read(job).figures)


def collect_arenas(jobs: Sequence[Path], seed: int = 1, titles: Mapping[str, str] | None = None) -> Report:
    """A report on the arena run folders ``jobs``: points per game (matches: the share won) of each, and paired differences to the first.

    ``titles``: what the jobs are called, by the names of their folders; else after their players. Paired by game: the jobs must have
    played the same games with the same seed, so that they share the dice until their plays differ.
    Raises RaccoonError when they did not, or when matches stand beside money games.
    """
    reports = [report_files.read(job) for job in jobs]
    matches = _are_matches(reports, jobs)
    unit, headline = ("match", "matches won") if matches else ("game", "points per game")
    games, values = [], []
    for job in jobs:
        number, value = _games(job)
        games.append(number)
        values.append((value + 1) / 2 if matches else value)  # a match won is 1 point, one lost -1
    for job, one, number in zip(jobs, reports, games, strict=True):
        if one.seed != reports[0].seed or not np.array_equal(number, games[0]):
            raise RaccoonError(f"{job}: played other games than {jobs[0]} (number or seed); only the same ones can be compared")
    names = [titles[job.name] for job in jobs] if titles else job_names(reports, jobs)
    result = Report("collect", names[0], None, seed, 0.0)
    points = {name: _headline(one) for name, one in zip(names, reports, strict=True)}
    result.figures = {f"{name}.{'match_wins' if matches else 'ppg'}": figure for name, figure in points.items()}
    result.tables["Sweep"] = [
        {
            "job": job.name,
            "settings" if titles else "player": name,
            "opponent": one.opponent,
            headline: points[name],
            **({} if matches else {"raw": one.figures["ppg_raw"]}),
            "minus the first": None if index == 0 else stats.mean_ci(values[index] - values[0]),
            f"s/{unit}": one.figures[f"seconds_per_{unit}"].value,
        }
        for index, (job, name, one) in enumerate(zip(jobs, names, reports, strict=True))
    ]
    result.plots["sweep"] = plots.bars(points, headline)
    luck = "not taken out" if matches else "taken out where it was counted"
    result.notes = [f"{len(games[0]):,} {unit}{'es' if matches else 's'}, the same dice for all, paired; the luck of the dice is {luck}."]
    return result


def _are_matches(reports: Sequence[Report], jobs: Sequence[Path]) -> bool:
    matches = ["match_wins" in one.figures for one in reports]
    for job, found in zip(jobs, matches, strict=True):
        if found != matches[0]:
            kinds = ("money games", "matches")
            raise RaccoonError(f"{job}: played {kinds[found]}, {jobs[0]} {kinds[matches[0]]}; collect them apart")
    return matches[0]


def _headline(one: Report) -> Figure:
    return next(one.figures[name] for name in ("ppg_vr", "ppg_raw", "match_wins") if name in one.figures)


def job_names(reports: Sequence[Report], jobs: Sequence[Path]) -> list[str]:
    """The players' names, with the job's number where two are the same."""
    players = [one.player for one in reports]
    return [name if players.count(name) == 1 else f"{name} #{job.name}" for name, job in zip(players, jobs, strict=True)]


def _games(job: Path) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of the finished games and their results, luck taken out where it was counted."""
    try:
        with open(job / "games.csv", encoding="utf-8", newline="") as handle:
            rows: list[dict[str, Any]] = [row for row in csv.DictReader(handle) if row["capped"] == "0"]
        value = [row["vr"] or row["points"] for row in rows]
        return np.array([row["game"] for row in rows], np.int64), np.array(value, np.float64)
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        reason = f"{type(error).__name__}: {error}"
        raise RaccoonError(f"{job / 'games.csv'}: is damaged ({reason}); take that folder out of the sweep, or measure again") from error

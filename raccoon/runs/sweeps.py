"""Sweeps: the jobs of one command, in numbered run folders of one folder that says which jobs there are to be.

It holds ``sweep.json``: ``{kind, fingerprint, started, jobs: [[override, ..], ..], refused: {number: why}}``, written before the first
job starts, and while a process works in it a lock. The same command continues it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raccoon.contracts import RaccoonError
from raccoon.files import locks, read_json, write_json
from raccoon.runs.claims import run_state

__all__ = ["FILE", "FOLDER", "Job", "Sweep", "apart", "open_sweep", "read_jobs", "titles", "told"]

FILE = "sweep.json"
FOLDER = "RACCOON_SWEEP_DIR"
"""The variable of the environment that says where the sweep under way has its folder, to the processes of its jobs as well."""
_MOST_TOLD = 8
_RUN_FILES = ("status.json", "report.json")


@dataclass(frozen=True)
class Job:
    """A job of a sweep: its ``overrides``, its run folder and what became of it (``raccoon.runs.claims.run_state``)."""

    number: int
    overrides: Sequence[str]
    folder: Path
    state: str
    reason: str = ""


@dataclass(frozen=True)
class Sweep:
    """An open sweep: ``jobs`` are the overrides of each; ``lock`` is held; ``resumed``: an earlier command began it; ``refused``: why jobs
    that never had a run folder failed, by number."""

    dir: Path
    jobs: Sequence[Sequence[str]]
    resumed: bool
    lock: locks.Held
    head: Mapping[str, Any]
    refused: dict[int, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write down which jobs there are to be, and which were refused."""
        refused = {str(number): reason for number, reason in self.refused.items()}
        write_json(self.dir / FILE, {**self.head, "jobs": [list(job) for job in self.jobs], "refused": refused})

    def job_folder(self, number: int) -> Path:
        """The run folder of a job."""
        return self.dir / str(number)


def read_jobs(folder: Path) -> list[Job]:
    """All jobs of the sweep in ``folder`` with what became of them; none where it holds no sweep. Raises RaccoonError for a broken file."""
    if not (folder / FILE).is_file():
        return []
    jobs, refused = _listed(folder)
    found = []
    for number, overrides in enumerate(jobs):
        state, reason = _state(folder / str(number))
        if state == "missing" and str(number) in refused:
            state, reason = "failed", str(refused[str(number)])
        found.append(Job(number, overrides, folder / str(number), state, reason))
    return found


def told(jobs: Sequence[Job]) -> str:
    """``2 of 6 jobs are not done: job 3 (seed=4) running, job 5 (seed=6) failed: trainer.lr=0: give more``; empty when all are."""
    settings = apart(jobs)
    open_jobs = [job for job in jobs if job.state != "done"]
    each = [
        f"job {job.number} ({' '.join(settings[job.number])}) {job.state}" + (f": {job.reason.splitlines()[0]}" if job.reason else "")
        for job in open_jobs[:_MOST_TOLD]
    ]
    if len(open_jobs) > _MOST_TOLD:
        each.append(f"and {len(open_jobs) - _MOST_TOLD} more")
    verb = "is" if len(open_jobs) == 1 else "are"
    return f"{len(open_jobs)} of {len(jobs)} jobs {verb} not done: {', '.join(each)}" if open_jobs else ""


def apart(jobs: Sequence[Job]) -> list[list[str]]:
    """What sets each job apart: its overrides but for those that all have."""
    common = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
    return [[override for override in job.overrides if override not in common] for job in jobs]


def titles(jobs: Sequence[Job]) -> dict[str, str]:
    """What each job is called, by the name of its folder: what sets it apart. Empty where that does not tell all of them apart."""
    found = {job.folder.name: " ".join(words) for job, words in zip(jobs, apart(jobs), strict=True)}
    return found if all(found.values()) and len(set(found.values())) == len(found) else {}


def open_sweep(
    place: Path, named: bool, earlier: Sequence[Path], kind: str, mark: str, jobs: Sequence[Sequence[str]], resume: bool
) -> Sweep:
    """The sweep of the command that ``mark`` names: one of the folders ``earlier`` that holds it, the newest first and unless a process
    works there, is continued; else it begins in ``place``. ``named``: the user named ``place``, and it is continued there or refused.

    Raises RaccoonError naming the folder when it is in use or holds something else.
    """
    if resume and not named:
        found = [folder for folder in earlier if _mark(folder) == mark]
        for folder in sorted(found, key=lambda folder: (folder / FILE).stat().st_mtime, reverse=True):
            lock = locks.take(folder)
            if lock is not None:
                return _begin(folder, lock, kind, mark, jobs)
    lock = locks.take(place)
    if lock is None:
        raise RaccoonError(f"{place}: in use by {locks.holder(place) or 'another process'}; name another folder")
    try:
        if problem := _problem(place, mark, resume):
            raise RaccoonError(f"{place}: {problem}; name another folder")
        return _begin(place, lock, kind, mark, jobs)
    except BaseException:
        lock.lock.release()
        raise


def _begin(folder: Path, lock: locks.Held, kind: str, mark: str, jobs: Sequence[Sequence[str]]) -> Sweep:
    resumed = (folder / FILE).exists()
    started = read_json(folder / FILE).get("started") if resumed else time.strftime("%Y-%m-%dT%H:%M:%S")
    sweep = Sweep(folder, jobs, resumed, lock, {"kind": kind, "fingerprint": mark, "started": started})
    sweep.write()
    os.environ[FOLDER] = str(folder)
    return sweep


def _problem(folder: Path, mark: str, resume: bool) -> str:
    if any((folder / name).exists() for name in _RUN_FILES):
        return "holds a run"
    if not (folder / FILE).exists():
        return ""
    if not resume:
        return "holds a sweep already; resume=true continues it"
    return "" if _mark(folder) == mark else "holds another sweep"


def _mark(folder: Path) -> str:
    try:
        data: Any = read_json(folder / FILE)
        return str(data["fingerprint"])
    except (RaccoonError, TypeError, KeyError):  # somebody else's broken folder must not stop this sweep
        return ""


def _listed(folder: Path) -> tuple[list[list[str]], Mapping[str, Any]]:
    data: Any = read_json(folder / FILE)
    jobs, refused = (data.get("jobs"), data.get("refused")) if isinstance(data, dict) else (None, None)
    if not isinstance(jobs, list) or not all(isinstance(job, list) and all(isinstance(one, str) for one in job) for job in jobs):
        raise RaccoonError(f"{folder / FILE}: does not list the jobs of a sweep")
    return jobs, refused if isinstance(refused, dict) else {}


def _state(folder: Path) -> tuple[str, str]:
    try:
        return run_state(folder)
    except RaccoonError as error:
        return "broken", str(error)

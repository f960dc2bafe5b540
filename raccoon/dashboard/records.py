"""Run folders as records: what is there is read, what is missing or broken is said, and nothing is changed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from raccoon.contracts import RaccoonError, Report
from raccoon.dashboard.folders import find_runs
from raccoon.dashboard.measured import read_report, read_tables, usable
from raccoon.files import read_json
from raccoon.flatten import leaves
from raccoon.runs.claims import run_state
from raccoon.runs.provenance import FILE as PROVENANCE
from raccoon.runs.sweeps import Job, read_jobs

__all__ = ["RunRecord", "read_run", "read_runs"]

_HIDDEN = ("hydra", "defaults", "paths", "resume")  # no setting of the run itself


@dataclass(frozen=True)
class RunRecord:
    """One run. ``state``: ``done``, ``running``, ``interrupted`` (by Ctrl-C or SIGTERM), ``stopped`` (unfinished, its
    process is gone), ``failed``, ``broken`` or, a job of a sweep that never began, ``missing``.

    ``config``: the settings, flat, by dotted key; ``rows``: a training's epochs as in ``metrics.csv``; ``report`` None while
    there is none; ``tables`` and ``images``: those of the report and of the measurements behind it, by title; ``provenance`` as
    ``raccoon.runs.provenance`` wrote it; ``faults``: what could not be read.
    """

    name: str
    folder: Path
    kind: str
    state: str
    started: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Mapping[str, float]] = ()
    report: Report | None = None
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Path] = field(default_factory=dict)
    faults: Sequence[str] = ()

    @property
    def what(self) -> str:
        """The evaluator, or the trainer of a training, by the name of its class; empty where that is not known."""
        node = self.config.get("trainer._target_" if self.kind == "train" else "evaluator._target_")
        if isinstance(node, str):
            return node.rsplit(".", 1)[-1]
        return "" if self.report is None else str(self.report.evaluator)

    @property
    def commit(self) -> str:
        """The commit that the run was made with, marked where the code differed from it; empty where that is not known."""
        git = _as_mapping(self.provenance.get("git"))
        return f"{git.get('commit', '')}"[:10] + ("+changes" if git.get("dirty") else "")


def read_runs(paths: Iterable[Path | str]) -> list[RunRecord]:
    """The records of all runs in ``paths``; see ``find_runs``."""
    records = [read_run(name, folder) for name, folder in find_runs(paths).items()]
    there = {record.folder for record in records}
    siblings = {record.folder.parent: record for record in records}
    return records + [_unborn(sibling, job) for folder, sibling in siblings.items() for job in _jobs(folder) if job.folder not in there]


def _jobs(folder: Path) -> list[Job]:
    try:
        return read_jobs(folder)
    except RaccoonError:  # its runs are shown all the same
        return []


def _unborn(sibling: RunRecord, job: Job) -> RunRecord:
    """A job of a sweep without a run: it never began, or was refused before."""
    name = (Path(sibling.name).parent / job.folder.name).as_posix()
    return RunRecord(name, job.folder, sibling.kind, job.state, faults=[job.reason] if job.reason else [])


def read_run(name: str, folder: Path) -> RunRecord:
    """The record of one run folder. Never raises for what is in it: faults are part of the record."""
    faults: list[str] = []
    status = _mapping(folder / "status.json", faults)
    config = _config(folder / "config.yaml", faults)
    rows = _rows(folder / "metrics.csv", faults)
    measured = (folder / "report.json").is_file()
    report, tables = _measured(folder, faults) if measured else (None, {})
    provenance = _mapping(folder / PROVENANCE, faults)
    return RunRecord(
        name=name,
        folder=folder,
        kind=str(status.get("kind") or ("train" if rows else "report" if measured else "?")),
        state="broken" if faults else run_state(folder)[0].replace("missing", "stopped"),
        started=str(status.get("started", "")),
        config=config,
        rows=rows,
        report=report,
        tables=tables,
        versions={} if report is None else _versions(folder),
        provenance=provenance,
        images=_images(folder),
        faults=[*faults, *([str(status["error"])] if status.get("state") == "failed" and status.get("error") else [])],
    )


def _measured(folder: Path, faults: list[str]) -> tuple[Report | None, Mapping[str, Sequence[Mapping[str, Any]]]]:
    try:
        report = read_report(folder)
    except RaccoonError as error:
        faults.append(_relative(error, folder))
        return None, {}
    try:
        return report, read_tables(folder, report)
    except RaccoonError as error:
        faults.append(_relative(error, folder))
        return report, report.tables


def _versions(folder: Path) -> dict[str, str]:
    return {key: str(value) for key, value in _as_mapping(read_json(folder / "report.json").get("versions")).items()}


def _mapping(path: Path, faults: list[str]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = read_json(path)
        if not isinstance(found, dict):
            raise RaccoonError(f"{path}: holds no object")
    except RaccoonError as error:
        faults.append(_relative(error, path.parent))
        return {}
    except RecursionError:
        faults.append(f"{path.name}: nested too deeply")
        return {}
    return found


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _config(path: Path, faults: list[str]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        if found is not None and not isinstance(found, Mapping):
            raise ValueError("holds no settings")
        return {key: value for name, node in (found or {}).items() if name not in _HIDDEN for key, value in leaves(node, str(name))}
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        faults.append(f"{path.name}: not readable as YAML ({' '.join(str(error).split())[:200]})")
        return {}


def _rows(path: Path, faults: list[str]) -> list[dict[str, float]]:
    """Numbers of the epochs; empty cells and what is not finite are left out, a row without an epoch is a fault."""
    if not path.is_file():
        return []
    rows: list[dict[str, float]] = []
    try:
        with open(path, encoding="utf-8", newline="") as handle:
            lines = csv.DictReader(handle)
            if lines.fieldnames is not None and "epoch" not in lines.fieldnames:
                raise ValueError("no column of epochs")
            for line in lines:
                numbers = {key: float(value) for key, value in line.items() if key and value not in (None, "")}
                rows.append({key: value for key, value in numbers.items() if usable(value)})
                if "epoch" not in rows[-1]:
                    raise ValueError(f"no epoch in line {len(rows) + 1}")
    except (OSError, ValueError, TypeError, csv.Error) as error:
        faults.append(f"{path.name}: not the figures of a training ({error})")
        return []
    return rows


def _images(folder: Path) -> dict[str, Path]:
    paths = [*sorted(folder.glob("*.png")), *sorted(folder.glob("final/*/*.png"))]
    return {path.relative_to(folder).with_suffix("").as_posix().removeprefix("final/"): path for path in paths}


def _relative(error: RaccoonError, folder: Path) -> str:
    return str(error).replace(f"{folder}/", "")

"""Run folders as records: what is there is read, what is missing or broken is said, and nothing is changed."""

from __future__ import annotations

import csv
import fcntl
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from raccoon.contracts import RaccoonError, Report
from raccoon.eval import report as reports
from raccoon.files import read_json
from raccoon.provenance import FILE as PROVENANCE

__all__ = ["RunRecord", "find_runs", "read_run", "read_runs"]

_MARKS = ("status.json", "report.json", "metrics.csv", "config.yaml")
_HIDDEN = ("hydra", "defaults", "paths", "resume")  # no setting of the run itself


@dataclass(frozen=True)
class RunRecord:
    """One run. ``state``: ``done``, ``running``, ``stopped`` (unfinished, its process is gone), ``failed`` or ``broken``.

    ``config``: the settings, flat, by dotted key; ``rows``: a training's epochs as in ``metrics.csv``; ``report`` None while
    there is none; ``provenance`` as ``raccoon.provenance`` wrote it; ``images``: plots by title; ``faults``: what could not be read.
    """

    name: str
    folder: Path
    kind: str
    state: str
    started: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Mapping[str, float]] = ()
    report: Report | None = None
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


def find_runs(paths: Iterable[Path | str]) -> dict[str, Path]:
    """Run folders by name: those given, and those at any depth below folders that are none (sweeps). Links are not followed.

    A name is the path from the folder that holds the given one. Raises RaccoonError naming a path that holds no run.
    """
    found: list[tuple[str, Path]] = []
    for path in map(Path, paths):
        if not path.is_dir():
            raise RaccoonError(f"{path}: no such folder; give run folders, or folders that hold some")
        base = path.absolute().parent
        here = [(folder.relative_to(base).as_posix(), folder) for folder in _below(path.absolute())]
        if not here:
            raise RaccoonError(f"{path}: holds no run (a folder with {', '.join(_MARKS[:-1])} or {_MARKS[-1]}); give other folders")
        found += here
    found = list(dict.fromkeys(found))
    often = Counter(name for name, _ in found)
    return {name if often[name] == 1 else folder.as_posix(): folder for name, folder in found}


def _below(folder: Path) -> list[Path]:
    if any((folder / mark).is_file() for mark in _MARKS):
        return [folder]
    try:
        inner = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise RaccoonError(f"{folder}: cannot be read ({error.strerror or error})") from error
    # jobs of a sweep are numbered: 2 comes before 10
    inner.sort(key=lambda path: (len(path.name), path.name) if path.name.isdigit() else (0, path.name))
    return [run for path in inner if not path.name.startswith(".") for run in _below(path)]


def read_runs(paths: Iterable[Path | str]) -> list[RunRecord]:
    """The records of all runs in ``paths``; see ``find_runs``."""
    return [read_run(name, folder) for name, folder in find_runs(paths).items()]


def read_run(name: str, folder: Path) -> RunRecord:
    """The record of one run folder. Never raises for what is in it: faults are part of the record."""
    faults: list[str] = []
    status = _mapping(folder / "status.json", faults)
    config = _config(folder / "config.yaml", faults)
    rows = _rows(folder / "metrics.csv", faults)
    raw = _mapping(folder / "report.json", faults)
    report = None
    if raw:
        try:
            report = _sound(reports.read(folder))
        except RaccoonError as error:
            faults.append(_relative(error, folder))
    return RunRecord(
        name=name,
        folder=folder,
        kind=str(status.get("kind") or ("train" if rows else "report" if raw else "?")),
        state="broken" if faults else _state(folder, status, report),
        started=str(status.get("started", "")),
        config=config,
        rows=rows,
        report=report,
        versions={str(key): str(value) for key, value in _as_mapping(raw.get("versions")).items()},
        provenance=_mapping(folder / PROVENANCE, faults),
        images=_images(folder),
        faults=[*faults, *([str(status["error"])] if status.get("state") == "failed" and status.get("error") else [])],
    )


def _sound(report: Report) -> Report:
    """``report`` if its numbers are some. Raises RaccoonError for what no program of ours wrote."""
    numbers = [number for figure in report.figures.values() for number in (figure.value, figure.lo, figure.hi, figure.n)]
    if not all(number is None or isinstance(number, int | float) for number in [*numbers, report.seconds]):
        raise RaccoonError("report.json: a figure is no number")
    if any(figure.value is None for figure in report.figures.values()) or report.seconds is None:
        raise RaccoonError("report.json: a figure has no value")
    return report


def _state(folder: Path, status: Mapping[str, Any], report: Report | None) -> str:
    if report is not None:
        return "done"
    state = str(status.get("state", "stopped"))
    if state != "running":
        return state if state in ("done", "failed") else "stopped"
    return "running" if _locked(folder / ".lock") else "stopped"


def _locked(path: Path) -> bool:
    """Does a process of this machine hold the lock of a run folder?"""
    try:
        with open(path, encoding="utf-8") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


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
    return found


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _config(path: Path, faults: list[str]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        faults.append(f"{path.name}: not readable as YAML ({' '.join(str(error).split())[:200]})")
        return {}
    return dict(_flat({key: value for key, value in _as_mapping(found).items() if key not in _HIDDEN}, ""))


def _flat(node: Any, at: str) -> Iterable[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _flat(value, f"{at}.{key}" if at else str(key))
    else:
        yield at, node


def _rows(path: Path, faults: list[str]) -> list[dict[str, float]]:
    """Numbers of the epochs; empty cells and what is not finite are left out, a row without an epoch is a fault."""
    if not path.is_file():
        return []
    rows: list[dict[str, float]] = []
    try:
        with open(path, encoding="utf-8", newline="") as handle:
            for line in csv.DictReader(handle):
                numbers = {key: float(value) for key, value in line.items() if key and value not in (None, "")}
                rows.append({key: value for key, value in numbers.items() if math.isfinite(value)})
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

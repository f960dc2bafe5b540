"""Run folders written by hand: what programs leave, and what they never would."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

GIT = {"commit": "0123456789abcdef0123456789abcdef01234567", "branch": "main", "dirty": False}


def figure(value: Any, lo: Any = None, hi: Any = None, n: Any = None) -> dict[str, Any]:
    return {"value": value, "lo": lo, "hi": hi, "n": n}


def epochs(count: int, pr: float = 20.0) -> list[dict[str, Any]]:
    """A training's ``metrics.csv``: PR and points per game are scored in every second epoch and carried in between."""
    rows = []
    for epoch in range(1, count + 1):
        scored = epoch - (epoch - 1) % 2
        rows.append(
            {"epoch": epoch, "step": 100 * epoch, "lr": 0.001 / epoch, "seconds": 30.0, "train/loss": 2.0 / epoch, "val/mse": 0.1 / epoch}
            | {"val/pr": pr / scored, "val/vr_ppg": -1.0 / scored, "val/vr_ppg_half": 0.1, "play/games_per_s": 200.0, "play/rolls": 55.0}
        )
    return rows


def report(pr: float = 8.0, **parts: Any) -> dict[str, Any]:
    return {
        "evaluator": "train",
        "player": "net",
        "opponent": "gnubg0",
        "seed": 1,
        "seconds": 12.5,
        "versions": {"python": "3.11"},
        "figures": {"bgsage_pr/pr": figure(pr, pr - 1, pr + 1, 1972), "vr_arena/ppg_vr": figure(-0.2, -0.3, -0.1, 600)},
        "tables": {},
        "notes": [],
        "files": [],
    } | parts


def write_run(
    folder: Path,
    kind: str = "train",
    state: str | None = "done",
    rows: Sequence[Mapping[str, Any]] = (),
    result: Any = None,
    config: Mapping[str, Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
    **status: Any,
) -> Path:
    """A run folder; what is empty or None is not written."""
    folder.mkdir(parents=True, exist_ok=True)
    if state is not None:
        whole = {"state": state, "kind": kind, "fingerprint": "f", "started": "2026-01-02T03:04:05", "pid": 1, "host": "h", **status}
        (folder / "status.json").write_text(json.dumps(whole))
    if rows:
        with open(folder / "metrics.csv", "w", newline="") as handle:
            writer = csv.DictWriter(handle, list(dict.fromkeys(key for row in rows for key in row)))
            writer.writeheader()
            writer.writerows(rows)
    for name, data in (("report.json", result), ("provenance.json", provenance)):
        if data is not None:
            (folder / name).write_text(json.dumps(data))
    if config is not None:
        (folder / "config.yaml").write_text(yaml.safe_dump(dict(config)))
    return folder


def write_training(folder: Path, pr: float = 20.0, count: int = 9, lr: float = 0.001) -> Path:
    """A finished training with everything."""
    config = {
        "seed": 1,
        "trainer": {"_target_": "raccoon.train.Distillation", "lr": lr, "max_epochs": count},
        "hydra": {"mode": "RUN"},
    }
    data = {"folders": [{"name": "walks", "rows": 1900}]}
    result = report(pr / count, tables={"epochs": epochs(count, pr)}, notes=["scored with the best weights"])
    write_run(folder, rows=epochs(count, pr), result=result, config=config, provenance={"git": GIT, "versions": {}, "data": data})
    outcomes = [{"outcome": "gammon won", "games": 812, "share": figure(0.1353, 0.12, 0.15, 6000)}]
    write_run(folder / "final" / "vr_arena", state=None, result=report(tables={"outcomes": outcomes}))
    return folder


@pytest.fixture
def make_run() -> Callable[..., Path]:
    """``make_run(folder, kind, state, rows, result, config, provenance, **status)``."""
    return write_run


@pytest.fixture
def make_training() -> Callable[..., Path]:
    """``make_training(folder, pr, count, lr)``: a finished run of train.py."""
    return write_training


@pytest.fixture
def make_epochs() -> Callable[..., list[dict[str, Any]]]:
    return epochs


@pytest.fixture
def make_report() -> Callable[..., dict[str, Any]]:
    """``make_report(pr, **parts)``: a ``report.json``."""
    return report

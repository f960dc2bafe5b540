"""What loggers get of a report: figures as numbers; a wandb run intervals, tables and plots as well."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from raccoon.contracts import Figure, Report
from raccoon.report import report_files as reports
from raccoon.report.wandb_tables import log_report


class Run:
    """What is used of a wandb run."""

    def __init__(self) -> None:
        self.summary: dict[str, Any] = {}
        self.logged: dict[str, Any] = {}

    def log(self, data: dict[str, Any]) -> None:
        self.logged |= data


class WandbLogger:
    """Known by its name, as Lightning's is."""

    def __init__(self) -> None:
        self.experiment = Run()


class Plain:
    """Any other logger."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def log_metrics(self, metrics: dict[str, float], step: int) -> None:
        self.calls.append((metrics, step))

    def finalize(self, status: str) -> None:
        self.calls.append(status)


def write(folder: Path, **figures: Figure) -> Path:
    rows = [{"player": "net", "PR": Figure(2.5, 2.0, 3.0, 9), "games": 3}, {"player": "gnubg0", "PR": Figure(1.0), "games": None}]
    plots = {"curve": lambda canvas: canvas.add_subplot().plot([1, 2])}
    report = Report("bgsage_pr", "net", None, 1, 2.0, dict(figures), {"players": rows, "none": []}, plots)
    return reports.write(report, folder)


def test_a_plain_logger_gets_the_figures_that_it_has_not_had(tmp_path: Path) -> None:
    write(tmp_path, pr=Figure(2.5, 2.0, 3.0, 9), gap=Figure(math.nan), **{"val/pr": Figure(2.5), "train/loss": Figure(1.0)})
    plain = Plain()
    log_report([plain], tmp_path)
    assert plain.calls == [({"pr": 2.5}, 0), "success"]


def test_a_wandb_run_gets_everything(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    write(tmp_path, pr=Figure(2.5, 2.0, 3.0, 9), gap=Figure(math.nan))
    write(tmp_path / "final" / "vr_arena", ppg_vr=Figure(-0.25))
    logger = WandbLogger()
    log_report([logger], tmp_path)
    run = logger.experiment
    assert run.summary == {"pr": 2.5, "pr.lo": 2.0, "pr.hi": 3.0, "pr.n": 9, "vr_arena/ppg_vr": -0.25}
    assert set(run.logged) == {"tables/players", "plots/curve", "tables/vr_arena/players", "plots/vr_arena/curve"}
    table = run.logged["tables/players"]
    assert table.columns == ["player", "PR", "PR lo", "PR hi", "games"]
    assert table.data == [["net", 2.5, 2.0, 3.0, 3.0], ["gnubg0", 1.0, None, None, None]]
    assert isinstance(run.logged["plots/curve"], wandb.Image)


def test_nothing_to_show_is_no_media(tmp_path: Path) -> None:
    reports.write(Report("x", "net", None, 1, 2.0), tmp_path)
    logger = WandbLogger()
    log_report([logger], tmp_path)
    assert logger.experiment.logged == {}

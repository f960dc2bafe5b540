"""Loggers: separate runs for separate jobs, offline without a key, and the same wandb run after a resume."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raccoon.runs.folder import Run
from raccoon.train import loggers
from raccoon.train.callbacks.checkpoints import peek
from raccoon.train.run import train


def node(kind: str, folder: Path) -> dict[str, Any]:
    return {kind: {"_target_": f"raccoon.train.loggers.{kind}_logger", "save_dir": str(folder)}}


def go(make_config, folder: Path, kind: str, resumed: bool = False, **trainer: Any) -> Run:
    config = make_config(**{"max_epochs": 1, **trainer})
    config["logger"] = node(kind, folder)
    folder.mkdir(exist_ok=True)
    run = Run(folder, "train", resumed, config)
    train(config, run)
    return run


def test_importing_the_loggers_imports_neither_wandb_nor_lightning():
    code = "import sys, raccoon.train.loggers; sys.exit(bool({'wandb', 'lightning', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_csv_of_a_continued_run_keeps_the_first_part(make_config, tmp_path):
    go(make_config, tmp_path, "csv")
    (tmp_path / "report.json").unlink()
    first = (tmp_path / "csv" / "version_0" / "metrics.csv").read_text()
    go(make_config, tmp_path, "csv", resumed=True)
    assert (tmp_path / "csv" / "version_0" / "metrics.csv").read_text() == first


def test_tensorboard_writes_events(make_config, tmp_path):
    pytest.importorskip("tensorboard")
    go(make_config, tmp_path, "tensorboard")
    assert list((tmp_path / "tensorboard").rglob("events.out.tfevents.*"))


def test_finish_without_wandb_does_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    with loggers.closing_loggers():
        pass
    assert "wandb" not in sys.modules


def of_lightning() -> BaseException:
    """What Lightning makes of Ctrl-C."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        try:
            sys.exit(1)
        except SystemExit as error:
            return error


@pytest.mark.parametrize(
    ("error", "code"), [(None, 0), (RuntimeError(), 1), (KeyboardInterrupt(), 255), (of_lightning(), 255)], ids=["", "E", "C", "L"]
)
def test_an_interrupted_wandb_run_is_killed_and_not_failed(monkeypatch, error: BaseException | None, code: int):
    codes: list[int] = []
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=1, finish=lambda exit_code: codes.append(exit_code)))
    with contextlib.suppress(BaseException), loggers.closing_loggers():
        if error is not None:
            raise error
    assert codes == [code]


@pytest.mark.slow
def test_wandb_offline_runs_are_separate_and_continue(make_config, tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    import wandb

    ids = []
    for name in ("a", "b"):
        go(make_config, tmp_path / name, "wandb")
        assert wandb.run is None  # finished: the next job starts its own
        assert list((tmp_path / name / "wandb").glob("offline-run-*"))
        ids.append(peek(tmp_path / name / "last.ckpt")["loggers"]["WandbLogger"])
    assert ids[0] != ids[1]

    (tmp_path / "a" / "report.json").unlink()
    go(make_config, tmp_path / "a", "wandb", resumed=True, max_epochs=2)
    assert peek(tmp_path / "a" / "last.ckpt")["loggers"]["WandbLogger"] == ids[0]
    assert all(ids[0] in path.name for path in (tmp_path / "a" / "wandb").glob("offline-run-*"))

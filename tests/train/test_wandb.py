"""A whole training with ``logger=wandb``, offline: what is in the file that ``wandb sync`` uploads."""

from __future__ import annotations

import csv
import importlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raccoon.runs import provenance
from raccoon.runs.folder import Run
from raccoon.train.callbacks import arena_points, benchmark_pr
from raccoon.train.run import train

_BLOCK, _HEAD, _START = 32768, 7, 7
_WHOLE, _LAST = 1, 4


def records(path: Path) -> Iterator[Any]:
    """The records of a ``.wandb`` file: LevelDB's log format after seven bytes of wandb's own."""
    proto: Any = importlib.import_module("wandb.proto.wandb_internal_pb2")
    data, at, parts = path.read_bytes(), _START, b""
    while at + _HEAD <= len(data):
        if (left := _BLOCK - at % _BLOCK) < _HEAD:
            at += left
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        parts += data[at + _HEAD : at + _HEAD + size]
        at += _HEAD + size
        if kind in (_WHOLE, _LAST):
            record = proto.Record()
            record.ParseFromString(parts)
            parts = b""
            yield record


def whole(path: Path) -> list[Any]:
    """The records, once the last is there: wandb's writer is another process, which may come after the run's end."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [*records(path)]
        if any(record.WhichOneof("record_type") == "exit" for record in found):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{path} has no end")


def items(entries: Any) -> dict[str, Any]:
    return {"/".join(entry.nested_key) or entry.key: json.loads(entry.value_json) for entry in entries}


@pytest.fixture
def offline_run(make_config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_plots: None) -> tuple[Path, list[Any]]:
    """``(folder, records)`` of a training of three epochs, its PR and its games made up."""
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    scores, points = iter([9.0, 5.0, 7.0]), iter([(-0.5, 0.1), (-0.2, 0.1)])
    monkeypatch.setattr(benchmark_pr, "static_pr", lambda engine, decisions: next(scores))
    monkeypatch.setattr(arena_points.ArenaPoints, "_play", lambda self, folder, module: next(points))
    config = make_config(max_epochs=3)
    config["logger"] = {"wandb": {"_target_": "raccoon.train.wandb_logger", "save_dir": str(tmp_path)}}
    opponent = {
        "_target_": "raccoon.play.EnginePlayer",
        "name": "random",
        "engine": {"_target_": "raccoon.engine.RandomEngine"},
    }
    vr = {"_target_": "raccoon.train.ArenaPoints", "_recursive_": False, "opponent": opponent, "every": 3}
    config["callbacks"] = {"pr": {"_target_": "raccoon.train.BenchmarkPR"}, "vr": vr}
    train(config, Run(tmp_path, "train", False, config))
    (path,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    return tmp_path, whole(path)


@pytest.mark.slow
def test_everything_is_in_an_offline_run(offline_run: tuple[Path, list[Any]]) -> None:
    folder, found = offline_run
    assert_config(folder, found)
    assert_epochs(folder, found)
    assert_media(folder, found)


def assert_config(folder: Path, found: list[Any]) -> None:
    """The whole config, and where code and data come from."""
    config: dict[str, Any] = {}
    for record in found:
        config |= items(record.config.update)
    known = json.loads((folder / provenance.FILE).read_text())
    assert config["trainer"]["max_epochs"] == 3
    assert config["model"]["backbone"]["channels"] == 8
    assert config["provenance"] == known
    assert known["data"]["sets"][0]["folder"] == "walks"
    assert len(known["data"]["sets"][0]["digest"]) == 16
    assert known["git"] == provenance.git_state()


def assert_epochs(folder: Path, found: list[Any]) -> None:
    """Every scalar of ``metrics.csv`` by the epochs of that file, PR and points per game among them."""
    sent: dict[int, dict[str, Any]] = {}
    for record in found:
        row = items(record.history.item)
        if "epoch" in row:
            sent.setdefault(row["epoch"], {}).update(row)
    rows = list(csv.DictReader((folder / "metrics.csv").read_text().splitlines()))
    assert [int(row["epoch"]) for row in rows] == [1, 2, 3]
    for row in rows:
        epoch = sent[int(row.pop("epoch"))]
        names = {"lr": "train/lr", "seconds": "train/epoch_seconds"}
        del row["step"]
        assert {name: epoch[names.get(name, name)] for name in row} == pytest.approx({name: float(value) for name, value in row.items()})
    assert [sent[epoch]["val/pr"] for epoch in (1, 2, 3)] == [9.0, 5.0, 7.0]
    assert [sent[epoch]["val/vr_ppg"] for epoch in (1, 2, 3)] == pytest.approx([-0.5, -0.5, -0.2])
    steps = [record.metric for record in found if record.WhichOneof("record_type") == "metric"]
    assert [metric.step_metric for metric in steps if metric.glob_name == "*"][-1] == "epoch"


def assert_media(folder: Path, found: list[Any]) -> None:
    """Figures of the report in the summary; its tables and plots as files."""
    summary: dict[str, Any] = {}
    for record in found:
        summary |= items(record.summary.update)
    report = json.loads((folder / "report.json").read_text())
    assert {name: summary[name] for name in report["figures"]} == pytest.approx({n: f["value"] for n, f in report["figures"].items()})
    (run,) = folder.glob("wandb/offline-run-*")
    (table,) = run.rglob("tables/epochs*.table.json")
    shown = json.loads(table.read_text())
    at = shown["columns"].index("val/pr")
    assert [row[at] for row in shown["data"]] == [9.0, 5.0, 7.0]
    plots = [path.stem for path in folder.glob("*.png")]
    assert plots
    assert all([*run.rglob(f"plots/{stem}*.png")] for stem in plots)

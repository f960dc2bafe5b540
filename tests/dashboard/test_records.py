"""Records: what is there is read, what is unfinished, empty or foreign is said, and nothing in a folder stops the others."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from raccoon.dashboard import page
from raccoon.dashboard.records import RunRecord, read_run
from raccoon.files.locks import writing


def read(folder: Path) -> RunRecord:
    """The record, which makes a page, whatever it is."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    record = read_run("run", folder)
    assert "run" in page([record], folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    return record


def test_a_finished_training(make_training, make_epochs, tmp_path: Path) -> None:
    record = read(make_training(tmp_path / "run"))
    assert (record.state, record.kind, record.what, record.commit) == ("done", "train", "Distillation", "0123456789")
    assert record.rows == make_epochs(9)
    assert record.config == {
        "seed": 1,
        "trainer._target_": "raccoon.train.Distillation",
        "trainer.lr": 0.001,
        "trainer.max_epochs": 9,
    }
    assert [*record.tables] == ["epochs", "vr_arena/outcomes"]
    assert record.faults == []


def test_unfinished(make_run, make_epochs, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", state="running", rows=make_epochs(2))
    assert read(folder).state == "stopped"
    with writing(folder):
        assert read(folder).state == "running"
    assert read(folder).state == "stopped"


def test_interrupted(make_run, tmp_path: Path) -> None:
    assert read(make_run(tmp_path / "run", state="interrupted")).state == "interrupted"


def test_failed(make_run, tmp_path: Path) -> None:
    record = read(make_run(tmp_path / "run", state="failed", error="data.folders: none"))
    assert (record.state, [*record.faults]) == ("failed", ["data.folders: none"])


def test_changes_beside_the_commit(make_run, tmp_path: Path) -> None:
    assert read(make_run(tmp_path / "a", provenance={"git": {"commit": "c" * 40, "dirty": True}})).commit == "cccccccccc+changes"
    assert read(make_run(tmp_path / "b", provenance={"git": None})).commit == ""


def test_empty_files(make_run, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    for name in ("metrics.csv", "config.yaml"):
        (folder / name).touch()
    record = read(folder)
    assert (record.state, record.rows, record.config) == ("done", [], {})


def test_a_head_without_epochs(make_run, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", state="running")
    (folder / "metrics.csv").write_text("epoch,step,train/loss\n")
    assert read(folder).faults == []


def test_numbers_that_are_none_are_left_out(make_run, tmp_path: Path) -> None:
    rows = [{"epoch": 1, "val/mse": "nan", "val/pr": "inf", "val/r2": ""}, {"epoch": 2, "val/mse": 0.5, "val/pr": "-1e308", "val/r2": 0.1}]
    assert read(make_run(tmp_path / "run", rows=rows)).rows == [{"epoch": 1.0}, {"epoch": 2.0, "val/mse": 0.5, "val/r2": 0.1}]


def test_a_report_with_what_json_has_no_word_for(make_run, make_report, tmp_path: Path) -> None:
    figures = {"pr": {"value": None, "lo": None, "hi": None, "n": 3}, "ppg_vr": {"value": 0.1, "lo": -math.inf, "hi": math.nan, "n": None}}
    record = read(make_run(tmp_path / "run", kind="evaluate", result=make_report(figures=figures)))
    assert record.report is not None
    assert math.isnan(record.report.figures["pr"].value)
    assert (record.report.figures["ppg_vr"].lo, record.report.figures["ppg_vr"].hi) == (None, None)


@pytest.mark.parametrize("name", ["status.json", "report.json", "provenance.json", "config.yaml", "metrics.csv"])
@pytest.mark.parametrize("junk", [b"\x00\xff\xfe", b"{[", b"[" * 100_000, b"x\n", b"a: &a {b: *a}"], ids=range(5))
def test_a_broken_file_is_named(name: str, junk: bytes, make_training, tmp_path: Path) -> None:
    folder = make_training(tmp_path / "run")
    (folder / name).write_bytes(junk)
    record = read(folder)
    assert (record.state, len(record.faults)) == ("broken", 1)
    assert all(fault.startswith(name) and str(tmp_path) not in fault for fault in record.faults)


@pytest.mark.parametrize(
    "parts",
    [
        {"figures": {"pr": {"value": "8", "lo": None, "hi": None, "n": None}}},
        {"figures": {"pr": {"value": True, "lo": None, "hi": None, "n": None}}},
        {"figures": {"pr": 8.0}},
        {"figures": []},
        {"tables": {"t": [{"PR": {"value": 1.0, "lo": "low", "hi": 2.0, "n": 3}}]}},
        {"tables": {"t": ["row"]}},
        {"player": ["net"]},
        {"evaluator": None},
        {"opponent": {"name": "x"}},
        {"notes": 3},
        {"seconds": None},
    ],
    ids=str,
)
def test_a_foreign_report_is_refused(parts: dict[str, Any], make_run, make_report, tmp_path: Path) -> None:
    record = read(make_run(tmp_path / "run", kind="evaluate", result=make_report(**parts)))
    assert (record.state, record.report) == ("broken", None)
    assert record.faults[0].startswith("report.json: ")


def test_a_report_of_nothing_is_broken(make_run, tmp_path: Path) -> None:
    for number, result in enumerate(({}, [], "x", 0)):
        assert read(make_run(tmp_path / str(number), result=result)).state == "broken"


def test_a_broken_measurement_costs_its_tables_alone(make_training, tmp_path: Path) -> None:
    folder = make_training(tmp_path / "run")
    (folder / "final" / "vr_arena" / "report.json").write_text("{")
    record = read(folder)
    assert [*record.tables] == ["epochs"]
    assert record.state == "broken"
    assert record.report is not None


def test_numbers_too_large_for_a_float(make_run, make_report, tmp_path: Path) -> None:
    huge = {"value": 10**400, "lo": -(10**400), "hi": 1e308, "n": 10**400}
    folder = make_run(tmp_path / "run", kind="evaluate", result=make_report(figures={"pr": huge}, tables={"t": [{"a": 10**400}]}))
    assert json.loads((folder / "report.json").read_text())["figures"]["pr"]["n"] == 10**400
    assert read(folder).state == "done"

"""Stages held against their record, whatever became of their folders between two commands."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from raccoon.cli.program import before
from raccoon.cli.stages.checked import Checked, _check
from raccoon.cli.stages.record import made_anew, problem, read_record
from raccoon.cli.stages.report import check_reports, write_report
from raccoon.contracts import RaccoonError, Report
from raccoon.data.label_sets.links import link_set
from raccoon.data.label_sets.store import PositionStore, read_meta, signed
from raccoon.files import write_json
from raccoon.report import report_files
from raccoon.runs.stages import Stage

OLD_SETS = Path(__file__).parents[1] / "golden" / "before_move" / "label_sets"


def finished(folder: Path, name: str, kind: str = "train", **settings: Any) -> Checked:
    """A stage that is done, with its results, in ``folder``."""
    place = folder / name
    place.mkdir()
    (place / "status.json").write_text('{"state": "done"}')
    for file in ("net.pt", "last.ckpt"):
        (place / file).write_text(name)
    return Checked(Stage(name, kind, place), OmegaConf.create({}), (), settings)


def test_a_record_that_was_changed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "stages.json"
    assert read_record(file) == {}
    for text in ("[]", '{"first": 5}', '{"first": {}}', '{"first": {"settings": {}, "inputs": []}}'):
        file.write_text(text)
        with pytest.raises(RaccoonError, match=r"stages\.json: is no record of stages; name another folder"):
            read_record(file)
    file.write_text('{"first": {"settings": {"a": 1}, "inputs": {}}}')
    assert read_record(file)["first"]["settings"] == {"a": 1}


def test_folders_that_no_stage_left_so_are_told(tmp_path: Path) -> None:
    one = finished(tmp_path, "first", seed=1)
    record = {"settings": {"seed": 1}, "inputs": {}}
    assert problem(one, record) == ""
    anew = replace(one, stage=replace(one.stage, redo=True))
    assert problem(anew, record) == ""
    (tmp_path / "first" / "net.pt").unlink()
    assert problem(one, record) == ""  # nothing may need it
    assert problem(anew, record) == "net.pt is gone"
    (tmp_path / "first" / "status.json").unlink()
    assert problem(one, record) == "it holds files that no run wrote"
    (tmp_path / "second").write_text("")
    assert problem(replace(one, stage=replace(one.stage, folder=tmp_path / "second")), record) == "it holds files that no run wrote"
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / ".lock").touch()
    assert problem(replace(one, stage=replace(one.stage, folder=tmp_path / "third")), record) == ""


def test_shards_that_are_gone_are_told_where_the_stage_is_checked(tmp_path: Path) -> None:
    labels = Stage("first", "labels", tmp_path / "first", redo=True)
    shutil.copytree(next(OLD_SETS.iterdir()), labels.folder / "set")
    (labels.folder / "status.json").write_text('{"state": "done"}')
    made, record = Checked(labels, OmegaConf.create({}), (), {}), {"settings": {}, "inputs": {}}
    after = Stage("second", "train", tmp_path / "second", inputs={"first.set": labels.folder / "set"})
    reads = OmegaConf.create({"data": {"folders": [str(labels.folder / "set")]}})
    assert problem(made, record) == ""
    before.check("train", {"data": {"folders": [str(labels.folder / "set")]}})
    shard = next((labels.folder / "set").glob("shard-*.npy"))
    shard.unlink()
    assert problem(made, record) == f"set/{shard.name} is gone"
    with pytest.raises(RaccoonError, match=rf"{shard.name}: is gone; stages\.from=first makes it"):
        _check(Checked(after, reads, (), {}), {})
    with pytest.raises(RaccoonError, match=rf"data\.folders: .*{shard.name}: is not there; make the set again"):
        before.check("train", {"data": {"folders": [str(labels.folder / "set")]}})


def test_a_stage_made_from_one_that_is_gone_is_refused_before_that_is_made(tmp_path: Path) -> None:
    first, second = finished(tmp_path, "first"), finished(tmp_path, "second")
    second = replace(second, stage=replace(second.stage, inputs={"first.net": tmp_path / "first" / "net.pt"}))
    made_anew([first, second])
    shutil.rmtree(tmp_path / "first")
    with pytest.raises(RaccoonError, match=r"stages\.second: was made from the results of first, .*; stages\.from=first makes all"):
        made_anew([first, second])
    made_anew([first, replace(second, stage=replace(second.stage, redo=True))])


def test_a_broken_report_is_told_before_the_first_stage(tmp_path: Path) -> None:
    one = finished(tmp_path, "first").stage
    check_reports([one], {})
    figures = Report("train", "first", None, 1, 1.0, tables={"epochs": [{"epoch": 1}]})
    report_files.write(figures, one.folder)
    with pytest.raises(RaccoonError, match=r"first/report\.json: an epoch has no number or no seconds"):
        check_reports([one], {})


def test_minutes_of_a_set_count_once_and_those_of_another_one_of_the_same_kind_again(tmp_path: Path) -> None:
    stages, homes = [], {"first": ("short", 60), "again": ("short", 60), "longer": ("long", 180)}
    for name, (home, seconds) in homes.items():
        place = tmp_path / name / "set"
        shutil.copytree(next(OLD_SETS.iterdir()), tmp_path / home, dirs_exist_ok=True)
        place.parent.mkdir()
        link_set(PositionStore.open(tmp_path / home), place)
        write_json(place / "meta.json", signed({**read_meta(place), "seconds": seconds}))
        stages.append(Stage(name, "labels", tmp_path / name))
    report = json.loads(write_report(stages, {}, tmp_path, 1).read_text())
    assert [row["label minutes"] for row in report["tables"]["stages"]] == [1.0, 0.0, 3.0]
    assert report["figures"]["minutes"]["value"] == 4.0

"""Commands of several stages: all checked before the first, done ones left alone, changed ones refused, killed ones continued."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from raccoon.cli.program.composing import compose
from raccoon.cli.stages import run
from raccoon.cli.train import main as train_main
from raccoon.config.instantiate import plain
from raccoon.model import checkpoint_file
from raccoon.runs.stages import read_stages

ROOT = Path(__file__).parents[2]
CONFIGS = Path(__file__).parent / "stages"
COMMAND = ("--config-dir", str(CONFIGS), "experiment=small")
NAMES = ("labels", "first", "second", "mean", "policy", "score", "arena")


@pytest.fixture
def staged(program: Callable[..., Any]) -> Callable[..., Any]:
    """``staged(*overrides)``: the command with the small stages, in this process."""
    return lambda *words: program(
        train_main, *(word for word in words if word[0] == "-"), *COMMAND, *(word for word in words if word[0] != "-")
    )


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("stages.policy.overrides=['trainer.lrr=1']", "stages.policy: Could not override 'trainer.lrr'"),
        ("stages.policy.overrides=['data.source.games=-1']", "stages.policy: data.source.games=-1: give a whole number"),
        ("stages.policy.overrides=['init=none.pt']", "stages.policy: init='none.pt': no such file"),
        ("stages.second.overrides=['init=${stage:first.last}','model/head=scalar']", "holds another architecture than model"),
        ("stages.second.overrides=['init=${stage:first.last}','encoder=base']", "whole/first/last.ckpt: made for 26 planes"),
        ("stages.mean.nets=['${stage:first.net}','${stage:later.net}']", "stages.mean: refers to the stage later"),
        ("stages.mean.nets=['${stage:first.net}',prune]", "stages.mean: prune: "),
        ("stages.skip=[labels]", "stages.first: whole/labels/set: is not there, and its stage is not to be run"),
        ("stages.score.overrides=['player=nobody']", "stages.score: player=nobody: no such option"),
        ("init=some.pt", "init=some.pt: every stage has its own start"),
        ("logger=none", "error: In 'train': Could not find 'logger/none'"),
        ("stages=5", "stages=5: give a mapping of names to stages, or null"),
        ("stages.all=abc", "stages.all='abc': give a list of texts"),
        ("stages.first.overrides=['trianer.lr=1']", "stages.first: trianer.lr: train.py has no trianer; did you mean trainer?"),
        ("stages.first.overrides=['experiment=small']", "stages.first: its overrides give it stages of its own"),
        ("stages.first.overrides=['paths.run_dir=x']", "stages.first: paths.run_dir=x: is of the whole command, not of a stage"),
    ],
)
def test_every_stage_is_checked_before_the_first_one_starts(staged: Callable[..., Any], tmp_path: Path, override: str, told: str) -> None:
    done = staged(override)
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "stage 1" not in done.stdout
    assert not any(tmp_path.iterdir())


def test_folders_of_any_name_and_keys_that_some_stages_read_are_taken(
    staged: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(run, "_turn", lambda one, *_: seen.append(str(one.cfg.paths.run_dir)))
    monkeypatch.setattr(run, "write_report", lambda *_: tmp_path)
    done = staged("paths.run_dir='dé (1), a=\\'b\\''", "paths.data_dir=other")
    assert done.returncode == 0, done.stderr
    assert seen == [f"dé (1), a='b'/{name}" for name in NAMES]


def test_sweeps_have_no_stages(staged: Callable[..., Any], tmp_path: Path) -> None:
    done = staged("-m", "seed=1,2")
    assert done.returncode == 2
    assert done.stderr.startswith("error: stages: the jobs of -m have none; give one command for each setting")
    assert not any(tmp_path.iterdir())


def test_the_config_of_the_whole_is_printed(staged: Callable[..., Any]) -> None:
    done = staged("--cfg=job", "stages.second.minutes=3")
    assert done.returncode == 0, done.stderr
    assert "minutes: 3" in done.stdout


def test_the_default_net_plays_one_arena_at_its_end() -> None:
    stages = read_stages(plain(compose("train", ["experiment=default_net"])["stages"]), Path("whole"))
    assert all("final.vr_arena=null" in stage.overrides for stage in stages if stage.kind == "train")
    assert [stage.name for stage in stages if "evaluator=vr_arena" in stage.overrides] == ["arena"] == [stages[-1].name]


@pytest.mark.slow
def test_stages_are_run_once_and_again_where_that_is_asked_for(staged: Callable[..., Any], tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    done = staged()
    assert done.returncode == 0, done.stderr
    report = json.loads((whole / "report.json").read_text())
    rows = {row["stage"]: row for row in report["tables"]["stages"]}
    assert tuple(rows) == NAMES
    assert {row["state"] for row in rows.values()} == {"done"}
    assert rows["labels"]["rows"] == rows["second"]["rows"] > 100
    assert rows["first"]["epochs"] == 2
    assert rows["score"]["PR"] == report["figures"]["pr"]
    assert rows["arena"]["points a game"] == report["figures"]["ppg_vr"]
    assert rows["arena"]["points a game"]["n"] == 4
    curve = list(csv.DictReader((whole / "learning-curve.csv").read_text().splitlines()))
    assert [row["stage"] for row in curve] == ["first", "first", "second", "policy", "score"]
    assert [float(row["minutes"]) for row in curve] == sorted(float(row["minutes"]) for row in curve)
    assert (whole / "learning-curve.png").exists()
    average = checkpoint_file.load(whole / "mean" / "net.pt")[1]["meta"]["average"]
    assert [parent["digest"] for parent in average] == [
        checkpoint_file.load(whole / name / "net.pt")[1]["digest"] for name in ("first", "second")
    ]
    before = {path: path.stat().st_mtime_ns for path in whole.glob("*/*")}

    again = staged()
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("done already") == len(NAMES)
    assert {path: path.stat().st_mtime_ns for path in whole.glob("*/*")} == before

    changed = ("stages.second.overrides=['init=${stage:first.last}','data=relabel','data.source.folder=${stage:labels.set}',"
               "'engine@data.source.teacher=gnubg0','trainer.lr=0.002']")  # fmt: skip
    refused = staged(changed)
    assert refused.returncode == 2
    assert "stages.second: trainer.lr was 0.001 and is 0.002 now (whole/second); stages.from=second makes it" in refused.stderr
    taken = staged(changed, "stages.skip=[second]")
    assert taken.returncode == 0, taken.stderr
    assert "stage 3 of 7, second: left out" in taken.stdout

    redone = staged(changed, "stages.from=second")
    assert redone.returncode == 0, redone.stderr
    assert "second: trainer.lr was 0.001 and is 0.002 now; whole/second becomes whole/second.1" in redone.stdout
    assert "mean: second.net is not what it was made from; whole/mean becomes whole/mean.1" in redone.stdout
    assert (whole / "second.1" / "net.pt").exists()
    assert before.items() >= {path: path.stat().st_mtime_ns for path in whole.glob("first/*")}.items()
    assert "done already" in staged(changed).stdout
    assert "stages.second: trainer.lr was 0.002 and is 0.001 now" in staged().stderr


def start(folder: Path, ready: Callable[[], None]) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(ROOT / "train.py"), *COMMAND]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, preexec_fn=ready)


@pytest.mark.slow
def test_a_command_killed_in_every_stage_ends_as_one_that_was_left_alone(tmp_path: Path, heeds_ctrl_c: Callable[[], None]) -> None:
    cut, left = tmp_path / "cut", tmp_path / "left"
    for folder in (cut, left):
        folder.mkdir()
    for number, name in enumerate(NAMES):
        process = start(cut, heeds_ctrl_c)
        status = cut / "whole" / name / "status.json"
        deadline = time.monotonic() + 200
        while not status.exists():
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT if number % 2 else signal.SIGKILL)
        _, told = process.communicate()
        if number % 2 and process.returncode == 130:
            assert told.decode().splitlines()[-1] == "interrupted: whole keeps what is done; the same command continues it"
        else:
            assert process.returncode in (-9, 0)
    for folder in (cut, left):
        process = start(folder, heeds_ctrl_c)
        _, told = process.communicate()
        assert process.returncode == 0, told
    for name, file in [("first", "net.pt"), ("second", "last.ckpt"), ("mean", "net.pt"), ("policy", "net.pt")]:
        one, other = (checkpoint_file.load(folder / "whole" / name / file)[0].state_dict() for folder in (cut, left))
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    prs = [json.loads((folder / "whole" / "report.json").read_text())["figures"]["pr"] for folder in (cut, left)]
    assert prs[0] == prs[1]

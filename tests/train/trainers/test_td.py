"""Whole runs of ``trainer=td``: what they leave, what they refuse, and exact resuming with the replay window."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.rows import ROW
from raccoon.data.selfplay.actors import Actors
from raccoon.engine.random import RandomEngine
from raccoon.executor import ProcessExecutor
from raccoon.model import checkpoint_file
from raccoon.train.callbacks.checkpoints import peek, resume_path
from raccoon.train.run import train
from raccoon.train.trainers.td import TemporalDifference

DATA = {
    "_target_": "raccoon.data.SelfPlay",
    "games": 8,
    "batches": 4,
    "batch_size": 64,
    "window": 400,
    "holdout": 0.2,
    "special": 0.5,
    "turn_cap": 24,
    "seed": 1,
}


@pytest.fixture
def make_td(make_config: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A resolved config of a few seconds; keyword arguments change its trainer node."""

    def make(head: str = "outcomes6", **trainer: Any) -> dict[str, Any]:
        config = make_config(head)
        config["trainer"] = {"_target_": "raccoon.train.TemporalDifference", "max_epochs": 3, "ema_decay": 0.9, "lr": 0.003, **trainer}
        config["data"] = dict(DATA)
        return config

    return make


@pytest.mark.parametrize(("head", "target"), [("outcomes6", "exact"), ("scalar", "sampled")])
def test_a_run_leaves_a_network_and_its_curve(make_td, open_at, tmp_path, head, target):
    config = make_td(head, target=target, max_epochs=2)
    config["data"]["turn_cap"] = 6
    report = train(config, open_at(tmp_path / "run", config))
    written = json.loads(report.read_text())
    table = written["tables"]["epochs"]
    assert written["figures"]["epoch exported"]["value"] == 2  # the last, as nothing judges epochs without PR
    assert not (tmp_path / "run" / "best.ckpt").exists()
    assert {"play/games_per_s", "play/labels_per_s", "play/rolls", "play/gammons", "play/capped", "val/mse"} <= set(table[-1])
    net = checkpoint_file.load(tmp_path / "run" / "net.pt")[0].state_dict()
    average = peek(tmp_path / "run" / "last.ckpt")["ema"]
    assert all(torch.equal(net[key], average[key]) for key in net)


@pytest.mark.parametrize("minutes", [None, 1e-6], ids=["last epoch", "within an epoch"])
def test_a_cut_run_continues_to_the_same_end(make_td, open_at, assert_same_end, tmp_path, stop_at, minutes):
    config = make_td(checkpoint_minutes=minutes)
    train(config, open_at(tmp_path / "whole", config))
    stop_at(4 + 3)
    with pytest.raises(OSError, match="power cut"):
        train(config, open_at(tmp_path / "cut", config))
    newest = resume_path(tmp_path / "cut")
    assert newest is not None
    assert peek(newest)["global_step"] == (4 if minutes is None else 7)
    stop_at(None)
    train(config, open_at(tmp_path / "cut", config, resumed=True))
    assert_same_end(tmp_path / "whole", tmp_path / "cut")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target": "both"}, r"trainer\.target='both'"),
        ({"lam": 1.1}, r"trainer\.lam=1\.1"),
        ({"lam": -0.1}, r"trainer\.lam=-0\.1"),
        ({"shortlist": 0}, r"trainer\.shortlist=0"),
        ({"prune": RandomEngine(1)}, r"trainer\.prune.*exact"),
        ({"lr": 0.0}, r"trainer\.lr="),
    ],
)
def test_bad_settings_are_named(make_net, settings, message):
    with pytest.raises(RaccoonError, match=message):
        TemporalDifference(make_net(), **settings)


def test_an_unknown_setting_is_named(make_td, open_at, tmp_path):
    config = make_td(lambd=0.5)
    with pytest.raises(RaccoonError, match=r"trainer.*lambd"):
        train(config, open_at(tmp_path / "run", config))


def test_data_and_trainer_must_suit_each_other(make_td, open_at, make_config, tmp_path):
    stored, playing = make_config(), make_td()
    with pytest.raises(RaccoonError, match="data=selfplay"):
        train({**playing, "data": stored["data"]}, open_at(tmp_path / "a", stored))
    with pytest.raises(RaccoonError, match="trainer=td"):
        train({**stored, "data": playing["data"]}, open_at(tmp_path / "b", stored))


def test_max_minutes_ends_the_run_with_a_report(make_td, open_at, tmp_path):
    config = make_td(max_epochs=5000, max_minutes=0.02)
    report = train(config, open_at(tmp_path / "run", config))
    assert 1 <= len(json.loads(report.read_text())["tables"]["epochs"]) < 5000


def ahead(config: dict[str, Any], actors: int | None) -> dict[str, Any]:
    config["data"] |= {"ahead": True, "actors": actors, "actor_games": 3, "turn_cap": 12}
    return config


def test_the_games_of_the_next_epoch_are_those_of_the_weights_before_this_one(make_td, open_at, tmp_path):
    """Ahead of the learner, the first epoch is the lock-step one and the second is played by the same network; the third is not."""
    config = ahead(make_td(), 0)
    held, games = {}, config["data"]["games"]
    for name in ("ahead", "lock step"):
        if name == "lock step":
            config["data"] |= {"ahead": False, "actors": None}
        train(config, open_at(tmp_path / name, config))
        saved = peek(tmp_path / name / "last.ckpt")["SelfPlay"]
        assert saved["played"] == 3
        held[name] = np.concatenate([saved[part].numpy().view(ROW) for part in ("rows", "held")])
    a, b = (held[name] for name in ("ahead", "lock step"))
    first = [rows[rows["game"] < games] for rows in (a, b)]
    assert len(first[0]) > 50
    assert np.array_equal(*first)
    second = [rows[(rows["game"] >= games) & (rows["game"] < 2 * games)] for rows in (a, b)]
    assert not np.array_equal(*second)  # the weights have learnt in between


@pytest.mark.slow
@pytest.mark.parametrize("actors", [1, 2])
def test_actors_change_nothing(make_td, open_at, assert_same_end, tmp_path, actors):
    """In processes beside the learner, or in its own: the same windows, weights and curve; and no process is left."""
    before = set(multiprocessing.active_children())
    for name, count in (("here", 0), ("there", actors)):
        config = ahead(make_td(max_epochs=2), count)
        train(config, open_at(tmp_path / name, config))
    assert_same_end(tmp_path / "here", tmp_path / "there")
    assert left_over(before) == set()


def test_actors_say_when_they_cannot_build_the_trainer(make_net):
    with pytest.raises(RaccoonError, match=r"data\.ahead=true: actors build the trainer from its config"):
        Actors(ProcessExecutor(0), None, 4).begin(0, np.arange(4), TemporalDifference(make_net()))


def left_over(before: set[Any]) -> set[Any]:
    deadline = time.monotonic() + 60
    while set(multiprocessing.active_children()) - before and time.monotonic() < deadline:
        time.sleep(0.1)
    return set(multiprocessing.active_children()) - before


@pytest.mark.parametrize("minutes", [None, 1e-6], ids=["last epoch", "within an epoch"])
def test_a_cut_run_with_games_under_way_continues_to_the_same_end(make_td, open_at, assert_same_end, tmp_path, stop_at, minutes):
    config = ahead(make_td(checkpoint_minutes=minutes), 0)
    train(config, open_at(tmp_path / "whole", config))
    stop_at(4 + 3)
    with pytest.raises(OSError, match="power cut"):
        train(config, open_at(tmp_path / "cut", config))
    stop_at(None)
    train(config, open_at(tmp_path / "cut", config, resumed=True))
    assert_same_end(tmp_path / "whole", tmp_path / "cut")


@pytest.mark.slow
def test_actors_end_with_a_run_that_fails(make_td, open_at, tmp_path, stop_at):
    before = set(multiprocessing.active_children())
    config = ahead(make_td(), 1)
    stop_at(2)
    with pytest.raises(OSError, match="power cut"):
        train(config, open_at(tmp_path / "cut", config))
    assert left_over(before) == set()


@pytest.mark.slow
def test_kill_9_with_actors_and_the_same_command_again_equal_an_uninterrupted_run(make_td, killed_and_whole, assert_same_end, tmp_path):
    cut, whole = killed_and_whole(ahead(make_td(max_epochs=5), 2), tmp_path, later=0.3)
    assert_same_end(whole, cut)


@pytest.mark.slow
def test_kill_9_and_the_same_command_again_equal_an_uninterrupted_run(make_td, killed_and_whole, assert_same_end, tmp_path):
    cut, whole = killed_and_whole(make_td(max_epochs=5), tmp_path, later=0.3)
    assert_same_end(whole, cut)


@pytest.mark.slow
def test_two_processes_play_the_games_of_one(tmp_path):
    """The same window: games and targets of the first epoch do not depend on how many processes share them."""
    root = Path(__file__).parents[3]
    quick = ["trainer=td", "model=mlp_small", "debug=fast", "final.vr_arena=null", "final.bgsage_pr=null", "data.turn_cap=20"]
    two = ["runtime=ddp", "runtime.accelerator=cpu", "runtime.devices=2", "runtime.precision=32-true"]
    held = []
    for name, more in (("one", []), ("two", two)):
        command = [sys.executable, "train.py", *quick, f"paths.run_dir={tmp_path / name}", *more]
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
        held.append(peek(tmp_path / name / "last.ckpt")["SelfPlay"])
    assert held[0]["played"] == held[1]["played"] == 1
    for part in ("rows", "held"):
        assert torch.equal(held[0][part], held[1][part])

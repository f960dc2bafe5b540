"""``callbacks=vr``: which epochs are scored, what the others carry, and what is scored."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from raccoon.contracts import Figure, RaccoonError
from raccoon.executor import ProcessExecutor
from raccoon.model import RaccoonNet
from raccoon.runs.folder import Run
from raccoon.train.callbacks.arena_points import ArenaPoints, _with_half
from raccoon.train.run import train

RANDOM = {"_target_": "raccoon.play.EnginePlayer", "name": "random", "engine": {"_target_": "raccoon.engine.RandomEngine"}}


def node(**settings: Any) -> dict[str, Any]:
    return {"_target_": "raccoon.train.ArenaPoints", "_recursive_": False, "opponent": RANDOM, **settings}


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "metrics.csv").read_text().splitlines()))


def test_the_first_the_due_and_the_last_epoch_are_scored(make_config, tmp_path, monkeypatch):
    scores = iter([(-0.5, 0.25), (-0.25, 0.125), (0.5, 0.25)])
    monkeypatch.setattr(ArenaPoints, "_play", lambda self, folder, module: next(scores))
    config = make_config(max_epochs=4)
    config["callbacks"] = {"vr": node(every=3)}
    train(config, Run(tmp_path, "train", False, config))
    assert [float(row["val/vr_ppg"]) for row in rows(tmp_path)] == [-0.5, -0.5, -0.25, 0.5]
    assert [float(row["val/vr_ppg_half"]) for row in rows(tmp_path)] == [0.25, 0.25, 0.125, 0.25]


def test_the_games_are_played_on_the_device_that_trains(make_net, tmp_path, monkeypatch):
    seen: list[str] = []

    def run(player: Any, *_: Any) -> Any:
        seen.append(player["engine"]["device"])
        return SimpleNamespace(figures={"ppg_vr": Figure(0.5, 0.25, 0.75, 100)})

    callback = ArenaPoints(RANDOM, executor=ProcessExecutor(workers=0))
    monkeypatch.setattr(callback.arena, "run", run)
    monkeypatch.setattr(RaccoonNet, "device", torch.device("cuda", 1))
    module: Any = SimpleNamespace(best_net=make_net())
    assert callback._play(tmp_path / "vr", module) == (0.5, 0.25)
    assert seen == ["cuda:1"]


def test_a_continued_run_carries_the_score():
    first, second = (ArenaPoints(RANDOM, executor=ProcessExecutor(workers=0)) for _ in range(2))
    first._last = (0.5, 0.1)
    second.load_state_dict(first.state_dict())
    assert second._last == (0.5, 0.1)


def test_the_half_width_is_that_of_the_interval():
    assert _with_half(Figure(0.5, 0.25, 0.75, 100)) == (0.5, 0.25)
    assert math.isnan(_with_half(Figure(0.5))[1])
    with pytest.raises(RaccoonError, match="fewer than three games ended"):
        _with_half(None)


@pytest.mark.parametrize(("key", "value"), [("every", 0), ("games", 2), ("shard_games", 0), ("seed", -1)])
def test_a_setting_that_cannot_work_is_named(key, value):
    with pytest.raises(RaccoonError, match=rf"callbacks\.vr\.{key}"):
        ArenaPoints(RANDOM, **{key: value})


def test_an_opponent_that_cannot_be_is_refused_at_once():
    engine = {"_target_": "raccoon.engine.NetEngine.load", "path": "none.pt"}
    with pytest.raises(RaccoonError, match="is no player"):
        ArenaPoints(engine)
    with pytest.raises(RaccoonError, match=r"none\.pt"):
        ArenaPoints({"_target_": "raccoon.play.EnginePlayer", "engine": engine})


@pytest.mark.slow
def test_games_of_the_averaged_network_leave_nothing_behind(make_config, tmp_path):
    config = make_config(max_epochs=1)
    config["callbacks"] = {"vr": node(games=6, shard_games=6, turn_cap=300, executor=config["executor"])}
    train(config, Run(tmp_path, "train", False, config))
    (row,) = rows(tmp_path)
    assert math.isfinite(float(row["val/vr_ppg"]))
    assert float(row["val/vr_ppg_half"]) > 0
    assert not (tmp_path / ".vr").exists()

"""Whole runs of ``trainer=alphazero``: what they leave, what they refuse, and exact resuming with decisions in the window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from raccoon.contracts import OUTCOME_POINTS, RaccoonError
from raccoon.data.selfplay.episodes import Episodes
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.model import checkpoint_file
from raccoon.train.run import train
from raccoon.train.trainers.alphazero import AlphaZero

DATA = {
    "_target_": "raccoon.data.TreeSelfPlay",
    "search": {"_target_": "raccoon.search.MCTS", "simulations": 3, "leaves": 3, "noise": 0.25, "temperature": 1.0},
    "games": 8,
    "batches": 3,
    "batch_size": 32,
    "window": 300,
    "holdout": 0.2,
    "special": 0.5,
    "turn_cap": 8,
    "seed": 1,
}
PREVIOUS = {"_target_": "raccoon.train.PreviousNet", "every": 2, "games": 4, "turn_cap": 1000}


@pytest.fixture
def make_alphazero(make_config: Callable[..., dict[str, Any]], make_node: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A resolved config of a few seconds; keyword arguments change its trainer node."""

    def make(head: str = "outcomes6", **trainer: Any) -> dict[str, Any]:
        config = make_config(head)
        config["model"] = make_node(head, policy=True)
        config["trainer"] = {"_target_": "raccoon.train.AlphaZero", "max_epochs": 2, "ema_decay": 0.9, "lr": 0.003, **trainer}
        config["data"] = {**DATA, "search": dict(DATA["search"])}
        return config

    return make


@pytest.mark.parametrize("head", ["outcomes6", "scalar"])
def test_a_run_leaves_networks_and_its_curve(make_alphazero, open_at, tmp_path, head):
    config = make_alphazero(head)
    config["callbacks"] = {"previous": PREVIOUS} if head == "outcomes6" else {}
    folder = tmp_path / "run"
    written = json.loads(train(config, open_at(folder, config)).read_text())
    first, last = written["tables"]["epochs"]
    assert {"play/games_per_s", "train/policy_loss", "val/policy_ce", "val/policy_top1", "val/mse"} <= set(last)
    if head == "outcomes6":
        assert first.get("val/v_previous") is None
        assert abs(last["val/v_previous"]) < 3
        assert last["val/v_previous_ci"] > 0
    start, end = (checkpoint_file.load(folder / name)[0].state_dict() for name in ("start.pt", "net.pt"))
    fresh = make_start(config)
    assert all(torch.equal(start[key], fresh[key]) for key in fresh)
    for part in ("policy.", "head.", "backbone."):
        assert any(not torch.equal(start[key], end[key]) for key in start if key.startswith(part)), part


def make_start(config: dict[str, Any]) -> dict[str, torch.Tensor]:
    from raccoon.env.encoder import Encoder
    from raccoon.model import build_net
    from raccoon.rng import torch_seed

    return build_net(config["model"], Encoder(), seed=torch_seed(config["seed"], "network")).state_dict()


def test_a_target_is_the_result_and_the_root_in_the_shares_asked_for(make_net):
    """Two games from the start, one of them won by the side that rolled second, one stopped: its end is worth what the net says."""
    won = np.zeros((2, 25), np.int8)
    won[1, 0] = 5  # the side in slot 0 has borne off
    boards = np.stack([START, START, won, START, START])
    values = np.array([0.2, -0.1, np.nan, 0.4, np.nan])
    episodes = Episodes(boards, np.array([0, 1, 2, 0, 1]), np.array([4, 9]), np.array([0, 3, 5]), values)
    engine = RandomEngine(1)
    stopped = -float(engine.value(START[None])[0])
    results = np.array([-1 / 3, 1 / 3, stopped])
    for alpha in (0.0, 0.25, 1.0):
        targets = AlphaZero(make_net(policy=True), value_bootstrap_alpha=alpha).label(episodes, engine)
        np.testing.assert_allclose(targets.sum(axis=1), 1.0)
        found = targets[episodes.rolled] @ OUTCOME_POINTS / 3
        np.testing.assert_allclose(found, alpha * results + (1 - alpha) * values[episodes.rolled], atol=1e-5)


def test_games_without_a_tree_are_refused(make_net):
    episodes = Episodes(np.stack([START, START]), np.arange(2), np.zeros(1, np.int64), np.array([0, 2]))
    with pytest.raises(RaccoonError, match="data=selfplay_mcts"):
        AlphaZero(make_net(policy=True)).label(episodes, RandomEngine(1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"value_bootstrap_alpha": 1.1}, r"trainer\.value_bootstrap_alpha=1\.1"), ({"policy_weight": -1.0}, r"trainer\.policy_weight")],
)
def test_bad_settings_are_named(make_net, settings, message):
    with pytest.raises(RaccoonError, match=message):
        AlphaZero(make_net(policy=True), **settings)


def test_a_network_without_a_policy_head_is_refused(make_net):
    with pytest.raises(RaccoonError, match=r"model\.policy=false"):
        AlphaZero(make_net())


def test_data_and_trainer_must_suit_each_other(make_alphazero, make_config, open_at, tmp_path):
    playing, static = make_alphazero(), {**DATA, "_target_": "raccoon.data.SelfPlay"}
    static.pop("search")
    with pytest.raises(RaccoonError, match="data=selfplay_mcts"):
        train({**playing, "data": static}, open_at(tmp_path / "a", playing))
    other = {**make_config(), "data": playing["data"]}
    other["trainer"] = {"_target_": "raccoon.train.TemporalDifference", "max_epochs": 1}
    with pytest.raises(RaccoonError, match=r"gives searched games, and TemporalDifference learns from games; choose data=selfplay,"):
        train(other, open_at(tmp_path / "b", other))


@pytest.mark.slow
def test_kill_9_and_the_same_command_again_equal_an_uninterrupted_run(make_alphazero, killed_and_whole, assert_same_end, tmp_path):
    config = make_alphazero(max_epochs=5)
    config["callbacks"] = {"previous": PREVIOUS}
    cut, whole = killed_and_whole(config, tmp_path, later=0.3)
    assert_same_end(whole, cut, "TreeSelfPlay")


@pytest.mark.slow
def test_actors_beside_the_learner_change_nothing_but_who_plays(make_alphazero, open_at, assert_same_end, tmp_path):
    folders: list[Path] = []
    for actors in (0, 2):
        config = make_alphazero(max_epochs=3)
        config["data"] |= {"ahead": True, "actors": actors, "actor_games": 3, "executor": {"_target_": "raccoon.executor.ProcessExecutor"}}
        folders.append(tmp_path / str(actors))
        train(config, open_at(folders[-1], config))
    assert_same_end(*folders, "TreeSelfPlay")

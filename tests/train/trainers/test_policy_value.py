"""``trainer=policy``: what a run leaves and refuses, what is frozen, exact resuming; ``trainer=pretrain`` on a small CSV."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from raccoon.config.instantiate import build
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.decisions import Decisions
from raccoon.data.label_sets.policy_rows import JointBatch, PolicyBatch
from raccoon.data.label_sets.writer import fill
from raccoon.data.loader import unpacked
from raccoon.engine.net import NetEngine
from raccoon.env.encoder import Encoder
from raccoon.executor import ProcessExecutor
from raccoon.model import build_net, checkpoint_file
from raccoon.rng import torch_seed
from raccoon.runs.folder import Run
from raccoon.train.callbacks.checkpoints import peek
from raccoon.train.run import train
from raccoon.train.trainers.policy_value import PolicyValue

TEACHER = {
    "_target_": "raccoon.play.EnginePlayer",
    "engine": {"_target_": "raccoon.engine.GnubgEngine", "ply": 0},
}


@pytest.fixture(scope="session")
def decisions_folder(store_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The positions of ``store_folder`` with decisions by GNUBG's network."""
    folder = tmp_path_factory.mktemp("decisions") / "set"
    positions = {"_target_": "raccoon.data.Stored", "folder": str(store_folder)}
    fill(Decisions(positions, TEACHER).plan(), folder, ProcessExecutor(workers=0, progress=False))
    return folder


@pytest.fixture
def make_policy(
    make_config: Callable[..., dict[str, Any]], make_node: Callable[..., dict[str, Any]], decisions_folder: Path
) -> Callable[..., dict[str, Any]]:
    """A resolved config of a few seconds; keyword arguments change its trainer node."""

    def make(head: str = "outcomes6", **trainer: Any) -> dict[str, Any]:
        config = make_config(head, **{"max_epochs": 2, **trainer})
        config["trainer"]["_target_"] = "raccoon.train.PolicyValue"
        config["model"] = make_node(head, policy=True)
        config["data"] = {**config["data"], "folders": [str(decisions_folder)]}
        return config

    return make


def run_in(folder: Path, config: dict[str, Any], resumed: bool = False) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    return train(config, Run(folder, "train", resumed, config))


def test_both_heads_learn(make_policy, tmp_path):
    table = json.loads(run_in(tmp_path / "run", make_policy(max_epochs=6)).read_text())["tables"]["epochs"]
    assert {"train/loss", "train/policy_loss", "val/mse", "val/policy_ce", "val/policy_top1"} <= set(table[-1])
    for name in ("val/mse", "val/policy_ce", "train/policy_loss"):
        assert table[-1][name] < table[0][name]
    assert table[-1]["val/policy_top1"] > table[0]["val/policy_top1"]
    assert NetEngine.load(tmp_path / "run" / "net.pt").has_policy


def test_the_policy_is_judged_on_held_out_decisions(make_policy, tmp_path):
    config = make_policy(max_epochs=1)
    (row,) = json.loads(run_in(tmp_path / "run", config).read_text())["tables"]["epochs"]
    data = build(config["data"], "data")
    data.setup()
    batch, net = unpacked(data.order.held), checkpoint_file.load(tmp_path / "run" / "net.pt")[0].requires_grad_(False)
    assert isinstance(batch, JointBatch)
    policy = batch.policy
    logits = net.policy_logits(net.prepare(policy.boards, policy.dice, policy.mid), policy.legal).double()
    target = torch.zeros_like(logits).scatter_add(1, policy.ids, policy.shares.double())
    logs = logits.log_softmax(dim=1).masked_fill(~policy.legal, 0.0)
    above = (torch.special.xlogy(target, target) - target * logs).sum(dim=1).mean()
    assert row["val/policy_ce"] == pytest.approx(float(above), rel=1e-4)
    choice = policy.legal.sum(dim=1) > 1
    assert not choice.all()
    hits = target.gather(1, logits.argmax(dim=1, keepdim=True))[:, 0] == target.max(dim=1).values
    assert row["val/policy_top1"] == pytest.approx(float(hits[choice].double().mean()), abs=1e-6)


@pytest.mark.parametrize("head", ["outcomes6", "scalar"])
def test_a_policy_head_is_added_to_a_trained_network_and_nothing_else_moves(make_policy, make_net, tmp_path, head):
    start = make_net(head, policy=False, seed=9)
    checkpoint_file.save(tmp_path / "start.pt", start, {})
    config = make_policy(head, train="policy", value_weight=0.0, weight_decay=0.1) | {"init": str(tmp_path / "start.pt")}
    report = json.loads(run_in(tmp_path / "run", config).read_text())
    net = checkpoint_file.load(tmp_path / "run" / "net.pt")[0].state_dict()
    for key, value in start.state_dict().items():
        assert torch.equal(net[key], value), key
    fresh = build_net(config["model"], Encoder(), seed=torch_seed(config["seed"], "network")).state_dict()
    assert not torch.equal(net["policy.output.weight"], fresh["policy.output.weight"])
    epochs = report["tables"]["epochs"]
    best = min(epochs, key=lambda row: row["val/policy_ce"])
    assert report["figures"]["epoch exported"]["value"] == best["epoch"]
    assert epochs[0]["val/mse"] == epochs[1]["val/mse"]


@pytest.mark.parametrize(
    ("settings", "left"), [({"value_weight": 0.0}, ("neck.", "hidden.", "head.")), ({"policy_weight": 0.0}, ("policy.",))]
)
def test_a_head_left_out_stays_as_it_is_and_everything_else_has_a_gradient(make_policy, tmp_path, settings, left):
    config = make_policy(max_epochs=1, **settings)
    run_in(tmp_path / "run", config)
    last, fresh = peek(tmp_path / "run" / "last.ckpt"), build_net(config["model"], Encoder(), seed=torch_seed(config["seed"], "network"))
    weights = [name for name, _ in fresh.named_parameters()]
    moved = [name for name in weights if not torch.equal(last["state_dict"][f"net.{name}"], fresh.state_dict()[name])]
    assert moved == [name for name in weights if not name.startswith(left)]
    (optimizer,) = last["optimizer_states"]
    assert set(optimizer["state"]) == {index for group in optimizer["param_groups"] for index in group["params"]}


def test_another_network_is_no_start(make_policy, make_net, tmp_path):
    checkpoint_file.save(tmp_path / "start.pt", make_net("scalar", policy=False), {})
    with pytest.raises(RaccoonError, match=r"init=.*another architecture"):
        run_in(tmp_path / "run", make_policy() | {"init": str(tmp_path / "start.pt")})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": "value"}, r"trainer\.train='value'"),
        ({"train": "policy"}, r"trainer\.train=policy.*value_weight=0"),
        ({"policy_weight": 0, "value_weight": 0}, r"trainer\.policy_weight, trainer\.value_weight"),
        ({"policy_weight": -1}, r"trainer\.policy_weight=-1"),
        ({"value_weight": -1}, r"trainer\.value_weight=-1"),
        ({"weight_decay": -1}, r"trainer\.weight_decay=-1"),
        ({"lr": 0.0}, r"trainer\.lr="),
    ],
)
def test_bad_settings_are_named(make_net, settings, message):
    with pytest.raises(RaccoonError, match=message):
        PolicyValue(make_net(policy=True), **settings)


def test_a_network_without_a_policy_head_is_refused(make_net):
    with pytest.raises(RaccoonError, match=r"model\.policy=false"):
        PolicyValue(make_net(policy=False))


def test_a_batch_of_second_halves_alone_teaches_values_nothing(make_net, monkeypatch):
    module = PolicyValue(make_net(policy=True), policy_weight=0)
    monkeypatch.setattr(module, "_noted", lambda loss, rows: loss)
    boards = torch.zeros(2, 2, 25, dtype=torch.int8)
    empty = torch.zeros(0, 6)
    policy = PolicyBatch(boards, torch.ones(2, 2, dtype=torch.int8), torch.ones(2, dtype=torch.bool), empty.long(), empty, empty.bool())
    loss = module.training_step(JointBatch(boards[:0], empty, policy), 0)
    loss.backward()
    assert loss.item() == 0
    assert all(not weights.grad.any() for weights in module.net.parameters() if weights.grad is not None)


def test_weights_decay_and_biases_do_not(make_net):
    module = PolicyValue(make_net(policy=True), weight_decay=0.5)
    decay, none = module.optimizer().param_groups
    assert (decay["weight_decay"], none["weight_decay"]) == (0.5, 0.0)
    assert {parameter.ndim for parameter in decay["params"]} == {2, 4}
    assert {parameter.ndim for parameter in none["params"]} == {1}
    assert len(decay["params"]) + len(none["params"]) == len(list(module.net.parameters()))


def test_data_and_trainer_must_suit_each_other(make_policy, make_config, tmp_path):
    deciding, plain = make_policy(), make_config()
    with pytest.raises(RaccoonError, match="data=policy"):
        run_in(tmp_path / "a", {**deciding, "data": plain["data"]})
    with pytest.raises(RaccoonError, match="trainer=policy"):
        run_in(tmp_path / "b", {**plain, "data": deciding["data"]})
    mixed = {**deciding["data"], "folders": [*deciding["data"]["folders"], *plain["data"]["folders"]]}
    with pytest.raises(RaccoonError, match="sets of one kind"):
        run_in(tmp_path / "c", {**deciding, "data": mixed})


def test_a_cut_run_continues_to_the_same_end(make_policy, assert_same_end, tmp_path, stop_at):
    config = make_policy(checkpoint_minutes=1e-6, weight_decay=0.01)
    run_in(tmp_path / "whole", config)
    stop_at(15)
    with pytest.raises(OSError, match="power cut"):
        run_in(tmp_path / "cut", config)
    stop_at(None)
    run_in(tmp_path / "cut", config, resumed=True)
    assert_same_end(tmp_path / "whole", tmp_path / "cut", data=None)


@pytest.mark.slow
def test_kill_9_and_the_same_command_again_equal_an_uninterrupted_run(make_policy, killed_and_whole, assert_same_end, tmp_path):
    cut, whole = killed_and_whole(make_policy(max_epochs=12), tmp_path)
    assert_same_end(whole, cut, data=None)


@pytest.fixture
def pretraining(make_config: Callable[..., dict[str, Any]], walks: Path, tmp_path: Path) -> dict[str, Any]:
    """A config of a few seconds as ``trainer=pretrain`` makes it, on a CSV as wildbg writes it."""
    config = make_config(warmup_steps=4)
    source = {"_target_": "raccoon.data.WildbgImport", "files": str(walks), "check": False}
    data = {"_recursive_": False, "source": source, "folders": None, "data_dir": str(tmp_path / "data"), "executor": config["executor"]}
    config["data"] = {**config["data"], **data}
    return config


def test_a_network_starts_from_a_csv(pretraining, tmp_path):
    table = json.loads(run_in(tmp_path / "run", pretraining).read_text())["tables"]["epochs"]
    assert table[-1]["val/ce"] < table[0]["val/ce"]
    assert table[-1]["val/r2"] > 0.3


@pytest.mark.slow
def test_kill_9_in_a_supervised_start(pretraining, killed_and_whole, assert_same_end, tmp_path):
    cut, whole = killed_and_whole(pretraining, tmp_path)
    assert_same_end(whole, cut, data=None)

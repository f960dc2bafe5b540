"""The conformance checks: what Raccoon ships passes, and each fault they are for is found."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import pytest
import torch

from raccoon import testing
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.contracts import Cubes, Figure, RaccoonError, Report, SearchResult, Turns
from raccoon.env.board import START, is_race, terminal_points, validate
from raccoon.env.encoder import Encoder
from raccoon.executor import ProcessExecutor
from raccoon.model import RaccoonNet
from raccoon.model.backbones import MLP
from raccoon.model.heads import Outcomes6
from raccoon.play.player import EnginePlayer
from raccoon.search import StaticSearch
from raccoon.testing import check_encoder, check_evaluator, check_executor, check_model, check_player, check_search, check_trainer
from raccoon.testing.networks import _check_device
from raccoon.testing.runners import _RANDOM
from raccoon.testing.subjects import sample_boards

VR_ARENA = {"_target_": "raccoon.eval.VRArena", "games": 4, "shard_games": 2, "luck": "off"}


def player() -> EnginePlayer:
    return build(_RANDOM)


def test_every_check_is_there() -> None:
    for name in vars(testing)["__all__"]:
        assert callable(getattr(testing, name)), name
    with pytest.raises(AttributeError, match="no attribute 'check_nothing'"):
        _ = testing.check_nothing  # type: ignore[attr-defined]


def test_sample_positions_cover_all_stages() -> None:
    boards = testing.sample_boards(300)
    validate(boards)
    assert len(boards) == 300
    assert not terminal_points(boards).any()
    assert (boards == START).all(axis=(1, 2)).any()
    assert (boards[:, 1, 24] > 0).any()
    assert is_race(boards).any()
    assert (boards[:, 1].sum(1) < 8).any()
    assert np.array_equal(boards, testing.sample_boards(300))
    turns = testing.sample_turns(200)
    assert (turns.dice[:, 0] == turns.dice[:, 1]).any()
    assert (np.diff(turns.offsets) == 1).any()


def test_what_ships_passes(tmp_path: Path) -> None:
    check_player(_RANDOM)
    check_player(player())
    check_search({"_target_": "raccoon.search.StaticSearch"})
    check_search(StaticSearch("greedy"))
    check_encoder({"_target_": "raccoon.env.Encoder"})
    check_executor({"_target_": "raccoon.executor.ProcessExecutor", "workers": 0, "progress": False}, tmp_path / "shards")
    report = check_evaluator(VR_ARENA, tmp_path / "arena")
    assert (tmp_path / "arena" / "two" / "report.json").exists()
    assert report.evaluator == "vr_arena"


@pytest.mark.parametrize("head", ["scalar", "outcomes6"])
def test_networks_and_trainers_pass(head: str) -> None:
    cfg = compose("train", ["model=mlp_small", f"model/head={head}", "model.backbone.hidden=[8]"])
    check_model(cfg.model)
    from raccoon.model import build_net

    check_trainer(cfg.trainer, build_net(plain(cfg.model), Encoder()))


class StaysBehind(Outcomes6):
    """Its scale is a plain tensor, which no ``.to(device)`` moves."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.scale = torch.from_numpy(np.ones(6, np.float32))

    def log_probs6(self, raw: torch.Tensor) -> torch.Tensor:
        return super().log_probs6(raw * self.scale)


def test_a_head_that_keeps_a_tensor_on_the_cpu_is_caught() -> None:
    net = RaccoonNet(Encoder(), partial(MLP, hidden=[8]), Outcomes6)
    check_model(net)
    net.head = StaysBehind(8)
    with pytest.raises(AssertionError, match="a tensor stays on the CPU when the network moves; register it as a buffer"):
        _check_device(net, net.prepare(sample_boards(4)))


def test_callbacks_loggers_and_data_pass(tmp_path: Path) -> None:
    folders = [f"paths.run_dir={tmp_path}", f"paths.data_dir={tmp_path}"]
    cfg = compose("train", ["data=gnubg0", "debug=fast", "callbacks=early_stopping", *folders])
    testing.check_callback(cfg.callbacks.early_stopping)
    testing.check_logger(cfg.logger.csv)
    testing.check_data(cfg.data)
    with pytest.raises(AssertionError, match="ProcessExecutor is not a Lightning Callback"):
        testing.check_callback(cfg.executor)
    with pytest.raises(AssertionError, match="ProcessExecutor is not a LightningDataModule"):
        testing.check_data(cfg.executor)


@pytest.mark.parametrize(
    ("trainer", "data"), [("distill", "demo"), ("policy", "policy"), ("td", "selfplay"), ("alphazero", "selfplay_mcts")]
)
def test_every_trainer_and_the_data_it_needs_say_so(trainer: str, data: str, tmp_path: Path) -> None:
    from raccoon.data.contract import declared_data
    from raccoon.model import build_net

    cfg = compose(
        "train", [f"trainer={trainer}", "model=mlp_small", "model.policy=true", "model.backbone.hidden=[8]", f"paths.data_dir={tmp_path}"]
    )
    node = plain(cfg.trainer)
    check_trainer(node, build_net(plain(cfg.model), Encoder()))
    module = build(cfg.data, "data")
    assert module.gives == build(node, "trainer", net=build_net(plain(cfg.model), Encoder())).needs == declared_data(module)[0]
    if data.startswith("selfplay"):
        testing.check_data(cfg.data)


class Silent(pl.LightningModule):
    """A trainer as they were written before trainers said what they need."""

    max_epochs, max_minutes, checkpoint_minutes, gradient_clip = 1, None, None, 0.5

    def __init__(self, net: Any, decisions: bool = False) -> None:
        super().__init__()
        self.net = self.best_net = net
        self.decisions = decisions


def test_trainers_and_data_of_earlier_versions_still_train_and_fail_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from raccoon.data.contract import declared_data
    from raccoon.train.contract import check_pair, declare

    module = declare(Silent(torch.nn.Linear(1, 1)))
    assert (module.needs, module.gradient_clip_val, module.monitor, module.monitor_without_pr) == ("positions", 0.5, None, "val/mse")
    assert declare(Silent(torch.nn.Linear(1, 1), True)).needs == "decisions"
    assert declared_data(types.SimpleNamespace(decisions=False, holdout=0.1)) == ("positions", 0.1)
    assert declared_data(types.SimpleNamespace()) == (None, None)
    check_pair(module, types.SimpleNamespace())
    with pytest.raises(RaccoonError, match=r"gives searched games, and Silent learns from positions; choose data=demo .*trainer=alphazero"):
        check_pair(module, types.SimpleNamespace(gives="searched_games"))
    with pytest.raises(RaccoonError, match=r"data\.holdout=0"):
        check_pair(module, types.SimpleNamespace(gives="positions", holdout=0))
    monkeypatch.setattr("raccoon.plugins.plugin_packages", lambda: (__name__.split(".")[0],))
    with pytest.raises(AssertionError, match="a trainer needs the attribute"):
        check_trainer({"_target_": f"{__name__}.Silent"}, torch.nn.Linear(1, 1))


class Wrong(EnginePlayer):
    """A player with one fault."""

    fault = ""

    def choose(self, turns: Turns) -> Any:
        chosen = super().choose(turns)
        if self.fault == "dtype":
            return chosen.astype(np.int32)
        if self.fault == "range":
            return chosen + 1000
        if self.fault == "batch":
            return np.minimum(np.diff(turns.offsets) - 1, np.arange(len(turns)))
        if self.fault == "input":
            turns.boards[0] = 0
        return chosen[:-1] if self.fault == "shape" else chosen

    def take(self, boards: Any, cubes: Cubes) -> Any:
        return [True] * len(boards) if self.fault == "take" else super().take(boards, cubes)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("dtype", "must return int64, not int32"),
        ("range", "an index within each row"),
        ("shape", r"an array of shape \(40,\)"),
        ("batch", "depends on the batch"),
        ("input", r"changed turns\.boards"),
        ("take", r"take must return bool\[40\]"),
    ],
)
def test_faults_of_players_are_found(fault: str, message: str) -> None:
    wrong = Wrong(player().engine)
    wrong.fault = fault
    with pytest.raises(AssertionError, match=message):
        check_player(wrong)


class WrongSearch(StaticSearch):
    """A search with one fault."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self.changes = changes

    def values(self, turns: Turns, engine: Any) -> SearchResult:
        result = super().values(turns, engine)
        return replace(result, **{name: change(getattr(result, name)) for name, change in self.changes.items()})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": lambda v: v * 3}, r"lie in \[-1, 1\]"),
        ({"values": lambda v: v[1:]}, r"must be float64"),
        ({"values": lambda v: v * np.nan}, "must be finite"),
        ({"values": lambda v: v * 0.5}, "exact value"),
        ({"values": lambda v: v + 1e-3 * np.sin(np.arange(len(v))) * (np.abs(v) < 0.3)}, "depend on the batch"),
        ({"full": np.zeros_like}, "a child searched to full depth"),
        ({"evaluations": lambda n: -1}, "must count evaluations"),
    ],
)
def test_faults_of_searches_are_found(changes: Mapping[str, Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_search(WrongSearch(**changes), count=60)


class Twice(ProcessExecutor):
    """An executor that yields everything twice, with the last result."""

    def map(self, shard: Any, job: Any, indices: Any, work: Any) -> Any:
        results = list(super().map(shard, job, indices, work))
        yield from ((index, results[-1][1]) for index, _ in results)


def test_faults_of_executors_are_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="has another shard's result"):
        check_executor(Twice(0, progress=False), tmp_path)


class Drifting:
    """An evaluator whose figures do not follow from the seed."""

    name = "drifting"
    runs = 0

    def __init__(self, executor: Any = None, hi: float = 1e9) -> None:
        self.hi = hi

    def run(self, player: Any, opponent: Any, run_dir: Path, seed: int) -> Report:
        Drifting.runs += 1
        return Report(self.name, "a", "b", seed, 0.0, {"x": Figure(Drifting.runs, 0.0, self.hi, 3)})


def test_faults_of_evaluators_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raccoon.plugins.plugin_packages", lambda: (__name__.split(".")[0],))
    with pytest.raises(AssertionError, match="figure 'x' differs between runs"):
        check_evaluator({"_target_": f"{__name__}.Drifting"}, tmp_path / "a")
    with pytest.raises(AssertionError, match="outside its own interval"):
        check_evaluator({"_target_": f"{__name__}.Drifting", "hi": 0.5}, tmp_path / "b")

"""PR of a network under training, and what the final report makes of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lightning.pytorch as pl
import pytest
import torch
from lightning.pytorch.callbacks import Timer

from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.data.datamodule import PositionData
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START
from raccoon.eval.benchmark import compact
from raccoon.eval.benchmark.loader import load
from raccoon.executor import ProcessExecutor
from raccoon.runs.folder import Run
from raccoon.train import final
from raccoon.train.callbacks.benchmark_pr import BenchmarkPR, static_pr
from raccoon.train.callbacks.checkpoints import peek
from raccoon.train.run import train


def test_static_pr_of_gnubg_is_the_known_one():
    assert static_pr(GnubgEngine(0), load().checker) == pytest.approx(2.170, abs=0.005)


def test_every_must_be_positive():
    with pytest.raises(RaccoonError, match=r"callbacks\.pr\.every=0"):
        BenchmarkPR(every=0)


def test_a_missing_benchmark_is_named_before_labels_are_made(make_config, tmp_path, monkeypatch):
    config = make_config()
    config["callbacks"] = {"pr": {"_target_": "raccoon.train.BenchmarkPR", "benchmark": str(tmp_path / "none.json")}}
    monkeypatch.setattr(PositionData, "prepare_data", lambda _: pytest.fail("labels were asked for"))
    with pytest.raises(RaccoonError, match=r"callbacks\.pr\.benchmark=.*none\.json"):
        train(config, Run(tmp_path, "train", False, config))
    assert not (tmp_path / "last.ckpt").exists()


def test_a_benchmark_of_cube_decisions_alone_is_refused_at_once(tmp_path):
    """Epochs cannot be chosen by it, which nobody would know before the first one is over."""
    benchmark = load()
    none = benchmark.checker.take(benchmark.checker.games < 0)
    compact.write(replace(benchmark, checker=none, cube=benchmark.cube.first_games(2)), tmp_path / "cube.npz.xz")
    with pytest.raises(RaccoonError, match=r"cube\.npz\.xz: has no checker decisions to score"):
        BenchmarkPR(str(tmp_path / "cube.npz.xz"))


def test_the_best_epoch_by_pr_is_exported(make_config, tmp_path, monkeypatch):
    scores = iter([9.0, 5.0, 7.0])
    monkeypatch.setattr("raccoon.train.callbacks.benchmark_pr.static_pr", lambda engine, decisions: next(scores))
    config = make_config(max_epochs=3)
    config["callbacks"] = {"pr": {"_target_": "raccoon.train.BenchmarkPR"}}
    written = json.loads(train(config, Run(tmp_path, "train", False, config)).read_text())
    assert written["figures"]["epoch exported"]["value"] == 2
    assert written["figures"]["val/pr"]["value"] == 5.0
    assert [row["val/pr"] for row in written["tables"]["epochs"]] == [9.0, 5.0, 7.0]
    assert peek(tmp_path / "best.ckpt")["epoch"] == 1


def test_the_epoch_in_which_the_time_is_up_is_scored_and_unscored_ones_are_never_the_best(make_config, tmp_path, monkeypatch):
    scores = iter([9.0, 5.0])
    monkeypatch.setattr("raccoon.train.callbacks.benchmark_pr.static_pr", lambda engine, decisions: next(scores))

    def clock(timer: Timer, trainer: pl.Trainer) -> None:
        trainer.should_stop = trainer.current_epoch == 2

    monkeypatch.setattr(Timer, "_check_time_remaining", clock)
    config = make_config(max_epochs=50, max_minutes=1.0)
    stopping = {"_target_": "lightning.pytorch.callbacks.EarlyStopping", "monitor": "val/pr", "mode": "min", "patience": 9}
    config["callbacks"] = {"pr": {"_target_": "raccoon.train.BenchmarkPR", "every": 10}, "early_stopping": stopping}
    written = json.loads(train(config, Run(tmp_path, "train", False, config)).read_text())
    assert [row["val/pr"] for row in written["tables"]["epochs"]] == [9.0, 9.0, 5.0]
    assert written["figures"]["epoch exported"]["value"] == 3
    assert peek(tmp_path / "best.ckpt")["epoch"] == 2


def test_early_stopping_by_pr_without_the_callback_that_logs_it_is_refused(make_config, tmp_path):
    config = make_config()
    config["callbacks"] = {"stop": {"_target_": "lightning.pytorch.callbacks.EarlyStopping", "monitor": "val/pr"}}
    with pytest.raises(RaccoonError, match=r"callbacks\.stop\.monitor=val/pr: is logged by callbacks\.pr.* give callbacks\.stop"):
        train(config, Run(tmp_path, "train", False, config))


def test_a_continued_run_carries_the_score_and_is_scored_in_the_same_epochs(make_config, tmp_path, monkeypatch):
    def run(folder: Path, epochs: int, resumed: bool = False) -> list[float]:
        folder.mkdir(exist_ok=True)
        config = make_config(max_epochs=epochs, schedule="constant")
        config["callbacks"] = {"pr": {"_target_": "raccoon.train.BenchmarkPR", "every": 3}}
        report = train(config, Run(folder, "train", resumed, config))
        rows = json.loads(report.read_text())["tables"]["epochs"]
        report.unlink()  # as if the run had died before its summary
        return [row["val/pr"] for row in rows]

    monkeypatch.setattr("raccoon.train.callbacks.benchmark_pr.static_pr", lambda engine, decisions: float(engine.value(START[None])[0]))
    whole = run(tmp_path / "whole", 4)
    assert run(tmp_path / "cut", 1) == whole[:1]
    assert run(tmp_path / "cut", 4, resumed=True) == whole
    assert whole[0] == whole[1] != whole[2]


class Counting:
    """An evaluator that says how often it ran and with whom."""

    name = "counting"

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any]] = []
        self.executor: Any = ProcessExecutor(workers=0)

    def run(self, player: Any, opponent: Any, run_dir: Path, seed: int) -> Report:
        self.calls.append((player, opponent))
        return Report(self.name, "net", "gnubg0", seed, 1.0, {"ppg_vr": Figure(-0.1, -0.2, 0.0, 40)})


def test_final_measurements_are_part_of_the_report_and_run_once(make_config, tmp_path):
    config = make_config(max_epochs=1) | {"opponent": {"_target_": "raccoon.play.EnginePlayer"}}
    run = Run(tmp_path, "train", False, config)
    train(config, run)
    (tmp_path / "report.json").unlink()
    module = SimpleNamespace(trainer=None, monitor=None)
    evaluator = Counting()
    rows = [{"epoch": 1, "seconds": 2.0, "val/mse": 0.5}]
    path = final.export_and_measure(config, run, module, rows, {"arena": evaluator}, torch.device("cuda", 1))
    written = json.loads(path.read_text())
    assert written["figures"]["arena/ppg_vr"] == {"value": -0.1, "lo": -0.2, "hi": 0.0, "n": 40}
    assert written["opponent"] == "gnubg0"
    player, opponent = evaluator.calls[0]
    assert player["engine"]["path"] == str(tmp_path / "net.pt")
    assert player["engine"]["device"] == "cuda:1"
    assert opponent == config["opponent"]
    path.unlink()  # as if the run had died before its summary
    final.export_and_measure(config, run, module, rows, {"arena": evaluator}, torch.device("cuda", 1))
    assert len(evaluator.calls) == 1


def test_workers_elsewhere_measure_on_their_cpu():
    assert final.engine_node(Path("net.pt"), torch.device("cuda"), SimpleNamespace())["device"] == "cpu"


def test_final_evaluators_need_an_executor(make_config):
    config = make_config() | {"executor": None, "final": {"arena": {"_target_": "raccoon.eval.VRArena"}}}
    with pytest.raises(RaccoonError, match="executor"):
        final.build_evaluators(config)


MISSING_NET = {"_target_": "raccoon.engine.NetEngine.load", "path": "none.pt"}


@pytest.mark.parametrize(
    ("key", "node", "message"),
    [
        ("search", {"_target_": "raccoon.search.MCTS", "simulations": 0}, r"search\.simulations=0"),
        ("opponent", {"_target_": "raccoon.engine.NetEngine.load", "path": "none.pt"}, r"^opponent: .* is no player"),
        ("opponent", {"_target_": "raccoon.play.EnginePlayer", "engine": MISSING_NET}, r"none\.pt: no such checkpoint"),
        ("final", {"pr": {"_target_": "raccoon.eval.BGSagePR", "benchmark": "none.json"}}, r"final\.pr\.benchmark=none\.json"),
    ],
)
def test_what_the_final_measurements_need_is_checked_before_training(make_config, key, node, message):
    arena = {"arena": {"_target_": "raccoon.eval.VRArena"}}
    executor = {"_target_": "raccoon.executor.ProcessExecutor", "workers": 0}
    config = make_config() | {"executor": executor, "final": arena} | {key: node}
    with pytest.raises(RaccoonError, match=message):
        final.build_evaluators(config)


def test_nothing_to_export_is_said(tmp_path):
    with pytest.raises(RaccoonError, match=r"no checkpoint to export.*max_minutes"):
        final.export(tmp_path)

"""Whole runs: what they leave in their folder, what they learn, what they refuse, and exact resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.model import checkpoint_file
from raccoon.runs.folder import Run
from raccoon.train.callbacks.checkpoints import peek, resume_path
from raccoon.train.run import train


def open_at(folder: Path, config: dict[str, Any], resumed: bool = False) -> Run:
    folder.mkdir(exist_ok=True, parents=True)
    return Run(folder, "train", resumed, config)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return checkpoint_file.load(folder / "net.pt")[0].state_dict()


@pytest.mark.usefixtures("with_plots")
def test_a_run_learns_and_leaves_everything_in_its_folder(make_config, tmp_path, capsys):
    config = make_config(max_epochs=6)
    config["logger"] = {"csv": {"_target_": "raccoon.train.csv_logger", "save_dir": str(tmp_path / "run")}}
    report = train(config, open_at(tmp_path / "run", config))
    assert report == tmp_path / "run" / "report.json"
    assert str(tmp_path / "run" / "report.md") in capsys.readouterr().out
    written = json.loads(report.read_text())
    assert written["evaluator"] == "train"
    assert len(written["tables"]["epochs"]) == 6
    assert written["figures"]["val/r2"]["value"] > 0.5
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"best.ckpt", "last.ckpt", "net.pt", "metrics.csv", "report.md", "training.png", "epochs.csv"} <= names
    assert (tmp_path / "run" / "csv" / "version_0" / "metrics.csv").stat().st_size > 100
    rows = written["tables"]["epochs"]
    assert rows[-1]["train/loss"] < rows[0]["train/loss"]
    assert rows[-1]["lr"] == pytest.approx(0.0, abs=1e-9)


def test_net_and_checkpoints_load_as_the_averaged_network(make_config, tmp_path):
    config = make_config(max_epochs=2)
    train(config, open_at(tmp_path / "run", config))
    net, header = checkpoint_file.load(tmp_path / "run" / "last.ckpt")
    average = peek(tmp_path / "run" / "last.ckpt")["ema"]
    for key, value in net.state_dict().items():
        assert torch.equal(value, average[key])
    assert header["meta"]["trainer"]["lr"] == 0.003
    raw = peek(tmp_path / "run" / "last.ckpt")["state_dict"]
    assert any(not torch.equal(raw[f"net.{key}"], value) for key, value in average.items())


@pytest.mark.parametrize(("head", "objective"), [("scalar", "auto"), ("outcomes6", "equity"), ("outcomes6", "outcomes")])
def test_other_objectives_train(make_config, tmp_path, head, objective):
    config = make_config(head, objective=objective, max_epochs=1, ema_decay=None)
    report = train(config, open_at(tmp_path / "run", config))
    assert json.loads(report.read_text())["figures"]["val/r2"]["value"] > -5
    assert "ema" not in peek(tmp_path / "run" / "last.ckpt")


@pytest.mark.parametrize("steps", [0, 7], ids=["at an epoch's start", "within an epoch"])
def test_two_epochs_and_two_more_equal_four(make_config, assert_same_end, tmp_path, stop_at, steps):
    config = make_config(warmup_steps=3)
    train(config, open_at(tmp_path / "whole", config))
    per_epoch = peek(tmp_path / "whole" / "last.ckpt")["global_step"] // 4
    stop_at(2 * per_epoch + steps)
    with pytest.raises(OSError, match="power cut"):
        train(config, open_at(tmp_path / "cut", config))
    assert not (tmp_path / "cut" / "report.json").exists()
    stop_at(None)
    train(config, open_at(tmp_path / "cut", config, resumed=True))
    assert_same_end(tmp_path / "whole", tmp_path / "cut", data=None)


def test_a_checkpoint_within_an_epoch_continues_with_the_next_batch(make_config, assert_same_end, tmp_path, stop_at):
    config = make_config(max_epochs=3, checkpoint_minutes=1e-6)
    train(config, open_at(tmp_path / "whole", config))
    per_epoch = peek(tmp_path / "whole" / "last.ckpt")["global_step"] // 3
    stop_at(per_epoch + 5)
    with pytest.raises(OSError, match="power cut"):
        train(config, open_at(tmp_path / "cut", config))
    newest = resume_path(tmp_path / "cut")
    assert newest is not None
    assert newest == tmp_path / "cut" / "timed.ckpt"
    assert peek(newest)["global_step"] == per_epoch + 5
    stop_at(None)
    train(config, open_at(tmp_path / "cut", config, resumed=True))
    assert_same_end(tmp_path / "whole", tmp_path / "cut", data=None)
    assert not newest.exists()  # a run that came to its end keeps none from within an epoch


def test_the_seed_decides(make_config, tmp_path):
    ends = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        config = make_config(max_epochs=1)
        config["seed"] = seed
        torch.rand(7)  # the state of the global generator must not matter
        train(config, open_at(tmp_path / name, config))
        ends.append(weights(tmp_path / name))
    assert all(torch.equal(ends[0][key], ends[1][key]) for key in ends[0])
    assert any(not torch.equal(ends[0][key], ends[2][key]) for key in ends[0])


def test_max_minutes_ends_the_run_with_a_report(make_config, tmp_path):
    config = make_config(max_epochs=5000, max_minutes=0.05)
    report = train(config, open_at(tmp_path / "run", config))
    assert 1 <= len(json.loads(report.read_text())["tables"]["epochs"]) < 5000


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"devices": 1000}, r"runtime\.devices=1000"),
        ({"limit_train_batches": -1}, "runtime.*limit_train_batches"),
        ({"accelerator": "tpu"}, "runtime"),
    ],
)
def test_a_runtime_that_this_machine_has_not_is_refused(make_config, tmp_path, flags, message):
    config = make_config()
    config["runtime"].update(flags)
    with pytest.raises(RaccoonError, match=message):
        train(config, open_at(tmp_path / "run", config))


def test_a_bad_setting_of_the_runtime_is_named(make_config, tmp_path):
    config = make_config()
    config["runtime"]["acelerator"] = "cpu"
    with pytest.raises(RaccoonError, match=r"runtime.*acelerator"):
        train(config, open_at(tmp_path / "run", config))


def test_a_loss_that_is_no_number_stops_the_run(make_config, tmp_path):
    config = make_config(lr=1e30, gradient_clip_val=None)
    with pytest.raises(RaccoonError, match=r"loss is .* lower trainer\.lr"):
        train(config, open_at(tmp_path / "run", config))


@pytest.mark.parametrize("holdout", [0, 0.0001])
def test_a_set_without_held_out_games_is_refused(make_config, tmp_path, holdout):
    config = make_config()
    config["data"]["holdout"] = holdout
    with pytest.raises(RaccoonError, match=r"data\.holdout"):
        train(config, open_at(tmp_path / "run", config))


def test_a_broken_checkpoint_is_named(make_config, tmp_path):
    config = make_config()
    run = open_at(tmp_path / "run", config, resumed=True)
    (run.dir / "last.ckpt").write_bytes(b"PK not really")
    with pytest.raises(RaccoonError, match=r"last\.ckpt"):
        train(config, run)


@pytest.mark.slow
def test_kill_9_and_the_same_command_again_equal_an_uninterrupted_run(make_config, killed_and_whole, assert_same_end, tmp_path):
    cut, whole = killed_and_whole(make_config(max_epochs=3), tmp_path)
    assert_same_end(whole, cut, data=None)

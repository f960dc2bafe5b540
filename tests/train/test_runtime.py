"""Every trainer under every runtime preset, on the CPU: precision, strategy and clipping go together."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from raccoon import plugins
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import plain
from raccoon.runs.folder import Run
from raccoon.train.callbacks.checkpoints import peek
from raccoon.train.run import train

SETS = ["data.batch_size=64", "data.holdout=0.3"]
PLAYS = ["data.games=8", "data.batches=3", "data.batch_size=32", "data.holdout=0.2", "data.turn_cap=8"]
SMALL = {
    "distill": [*SETS, "data.source.games=4", "data.source.shard_games=4"],
    "policy": [*SETS, "data.source.positions.games=4", "data.source.positions.shard_games=4"],
    "pretrain": [*SETS, "data.source.check=false", "trainer.warmup_steps=2"],
    "td": PLAYS,
    "alphazero": [*PLAYS, "data.search.simulations=3", "data.search.leaves=3"],
}
"""Sizes of every trainer's data: a new one wants some."""
GROUPS = plugins.catalogue()
OPTIONS = {name: [option for option, provider in GROUPS[name].items() if provider == "raccoon"] for name in ("trainer", "runtime")}


@pytest.fixture
def _one_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """DDP leaves its group and its variables to the end of the process."""
    for name in ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)
    yield
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@pytest.fixture(scope="session")
def label_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the label sets of these trainings are: each is made once."""
    return tmp_path_factory.mktemp("sets")


@pytest.mark.usefixtures("_one_process")
@pytest.mark.parametrize("runtime", OPTIONS["runtime"])
@pytest.mark.parametrize("trainer", OPTIONS["trainer"])
def test_every_trainer_runs_under_every_preset(trainer: str, runtime: str, label_sets: Path, walks: Path, tmp_path: Path) -> None:
    chosen = [f"trainer={trainer}", f"runtime={runtime}", "runtime.accelerator=cpu", "model=mlp_small", "model.backbone.hidden=[8]"]
    quick = ["callbacks=none", "logger=[]", "final.vr_arena=null", "final.bgsage_pr=null", "trainer.max_epochs=1", "executor.workers=0"]
    places = [f"paths.data_dir={label_sets}", f"paths.run_dir={tmp_path}"]
    files = [f"data.source.files={walks}"] if trainer == "pretrain" else []
    cfg = plain(compose("train", [*chosen, "model.policy=true", *quick, *SMALL[trainer], *files, *places]))
    train(cfg, Run(tmp_path, "train", False, cfg))
    state = peek(tmp_path / "last.ckpt")
    assert state["global_step"] > 2
    (row,) = csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines())
    assert float(row["train/loss"]) > 0
    assert all(weights.isfinite().all() for weights in state["state_dict"].values())

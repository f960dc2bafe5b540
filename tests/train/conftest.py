"""A few hundred real positions with smooth made-up labels: fast, and nothing to download or evaluate."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from raccoon.data.label_sets.rows import pack
from raccoon.data.label_sets.writer import Plan, fill
from raccoon.engine.outcomes import five_from_six
from raccoon.env.board import START, is_race, pips, terminal_points
from raccoon.env.encoder import Encoder
from raccoon.env.movegen import afterstates
from raccoon.env.position_ids import position_id
from raccoon.executor import ProcessExecutor
from raccoon.model import RaccoonNet, build_net, checkpoint_file
from raccoon.rng import generator
from raccoon.runs.folder import Run
from raccoon.train.callbacks.checkpoints import peek
from raccoon.train.trainers.base import ValueTrainer
from raccoon.train.trainers.joint import JointTrainer


def random_walk(games: int, turns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """``int8[N, 2, 25]`` positions of games played at random, and the game of each, games together."""
    rng = generator(seed, "test walk")
    boards, game = np.repeat(START[None], games, axis=0), np.arange(games)
    seen = []
    for _ in range(turns):
        live = terminal_points(boards) == 0
        boards, game = boards[live], game[live]
        seen.append((boards, game))
        children, offsets = afterstates(boards, rng.integers(1, 7, (len(boards), 2)))
        boards = children[rng.integers(offsets[:-1], offsets[1:])]
    games_of = np.concatenate([part[1] for part in seen])
    order = np.argsort(games_of, kind="stable")
    return np.concatenate([part[0] for part in seen])[order], games_of[order]


def labels(boards: np.ndarray) -> np.ndarray:
    """``float32[N, 6]``: a smooth function of the race, gammons only while there is contact."""
    lead = (pips(boards)[:, 0] - pips(boards)[:, 1]) / 25.0
    win = 1.0 / (1.0 + np.exp(-lead))
    gammon = np.where(is_race(boards), 0.0, 0.25)
    parts = [win * (1 - gammon), win * gammon * 0.9, win * gammon * 0.1]
    parts += [(1 - win) * (1 - gammon), (1 - win) * gammon * 0.9, (1 - win) * gammon * 0.1]
    return np.stack(parts, axis=1).astype(np.float32)


@pytest.fixture(scope="session")
def positions() -> tuple[Tensor, Tensor]:
    boards, _ = random_walk(games=24, turns=40, seed=3)
    return torch.from_numpy(boards), torch.from_numpy(labels(boards))


@pytest.fixture(scope="session")
def walks(positions: tuple[Tensor, Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those positions in a CSV as wildbg writes it."""
    path = tmp_path_factory.mktemp("wildbg") / "walks.csv"
    boards, nested = positions[0].numpy(), five_from_six(positions[1].double().numpy())
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["position_id", "win", "win_g", "win_bg", "lose_g", "lose_bg"])
        writer.writerows([position_id(board), *numbers] for board, numbers in zip(boards, nested.round(6), strict=True))
    return path


def shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    boards, game = random_walk(games=24, turns=40, seed=job["seed"] + index)
    return {"rows": pack(boards, five_from_six(labels(boards)), game + 24 * index, np.zeros(len(boards)), 0)}


@pytest.fixture(scope="session")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two shards, about 1,900 rows of 48 games."""
    folder = tmp_path_factory.mktemp("store") / "walks"
    fill(Plan({"kind": "walks"}, shard, {"seed": 5}, 2, "walks"), folder, ProcessExecutor(workers=0))
    return folder


@pytest.fixture(scope="session")
def make_config(store_folder: Path) -> Callable[..., dict[str, Any]]:
    """A resolved training config of a few seconds; keyword arguments change its trainer node."""

    def make(head: str = "outcomes6", **trainer: Any) -> dict[str, Any]:
        return {
            "seed": 1,
            "encoder": {"_target_": "raccoon.env.Encoder"},
            "model": model_node(head),
            "data": {
                "_target_": "raccoon.data.PositionData",
                "folders": [str(store_folder)],
                "batch_size": 128,
                "holdout": 0.2,
                "seed": 1,
            },
            "trainer": {"_target_": "raccoon.train.Distillation", "max_epochs": 4, "ema_decay": 0.9, "lr": 0.003, **trainer},
            "runtime": {"accelerator": "cpu", "devices": 1, "precision": "32-true"},
            "callbacks": {},
            "logger": {},
            "executor": {"_target_": "raccoon.executor.ProcessExecutor", "workers": 0, "progress": False},
            "final": {},
        }

    return make


def model_node(head: str = "outcomes6", policy: bool = False) -> dict[str, Any]:
    target = {"outcomes6": "raccoon.model.Outcomes6", "scalar": "raccoon.model.Scalar"}[head]
    return {
        "_target_": "raccoon.model.RaccoonNet",
        "backbone": {"_target_": "raccoon.model.ResNet", "_partial_": True, "blocks": 1, "channels": 8},
        "head": {"_target_": target, "_partial_": True},
        "policy": policy,
    }


@pytest.fixture
def make_node() -> Callable[..., dict[str, Any]]:
    """The node of a tiny network."""
    return model_node


@pytest.fixture
def make_net():
    def make(head: str = "outcomes6", policy: bool = False, seed: int = 1) -> RaccoonNet:
        return build_net(model_node(head, policy), Encoder(), seed=seed)

    return make


@pytest.fixture(autouse=True)
def _no_plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes longer than these trainings; tests that look at the picture ask for ``with_plots``."""
    if "with_plots" not in request.fixturenames:
        monkeypatch.setattr("raccoon.train.final.PLOTS", {})


@pytest.fixture
def with_plots() -> None:
    """Ask for this to have the plots drawn."""


_PROGRAM = """
import json, sys
from pathlib import Path
from raccoon.runs.folder import Run
from raccoon.train.run import train
folder, config = Path(sys.argv[1]), json.loads(sys.argv[2])
train(config, Run(folder, "train", "resume" in sys.argv, config))
"""


def _killed_and_whole(config: dict[str, Any], folder: Path, later: float = 0.0) -> tuple[Path, Path]:
    """``(cut, whole)``: run folders of ``config``, one killed ``later`` seconds after its first checkpoint and continued."""
    command = [sys.executable, "-c", _PROGRAM]
    cut, whole = folder / "cut", folder / "whole"
    cut.mkdir()
    process = subprocess.Popen([*command, str(cut), json.dumps(config)], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while not (cut / "last.ckpt").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(later)
    process.kill()
    assert process.wait() == -9
    assert not (cut / "report.json").exists()
    subprocess.run([*command, str(cut), json.dumps(config), "resume"], check=True, stdout=subprocess.DEVNULL)
    whole.mkdir()
    subprocess.run([*command, str(whole), json.dumps(config)], check=True, stdout=subprocess.DEVNULL)
    return cut, whole


@pytest.fixture
def killed_and_whole() -> Callable[..., tuple[Path, Path]]:
    """A training run that is killed in the middle and continued, and one that is left alone."""
    return _killed_and_whole


@pytest.fixture
def stop_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """``stop_at(step)``: every trainer fails in training step number ``step`` (from 0) of the whole run; None: in none."""
    originals = {trainer: trainer.training_step for trainer in (ValueTrainer, JointTrainer)}

    def arm(step: int | None) -> None:
        def fails_or_not(original: Callable[..., Tensor]) -> Callable[..., Tensor]:
            def training_step(self: ValueTrainer, batch: Any, batch_idx: int) -> Tensor:
                if step is not None and self.trainer.global_step >= step:
                    raise OSError("power cut")
                return original(self, batch, batch_idx)

            return training_step

        for trainer, original in originals.items():
            monkeypatch.setattr(trainer, "training_step", fails_or_not(original))

    return arm


@pytest.fixture(scope="session")
def open_at() -> Callable[..., Run]:
    """``open_at(folder, config, resumed=False)``: a run in ``folder``."""

    def at(folder: Path, config: dict[str, Any], resumed: bool = False) -> Run:
        folder.mkdir(exist_ok=True, parents=True)
        return Run(folder, "train", resumed, config)

    return at


def _rows(folder: Path) -> list[dict[str, str]]:
    """The curve, without what the clock decides: seconds and speeds."""
    read = list(csv.DictReader((folder / "metrics.csv").read_text().splitlines()))
    clocked = ("seconds", "play/late_s")
    return [{key: text for key, text in row.items() if key not in clocked and not key.endswith("_per_s")} for row in read]


@pytest.fixture(scope="session")
def assert_same_end() -> Callable[..., None]:
    """``assert_same_end(one, other, data="SelfPlay")``: bit for bit, exported and trained weights, average, optimiser, replay window of
    the DataModule ``data`` (None: it has none); and the same curve, training losses included."""

    def same(one: Path, other: Path, data: str | None = "SelfPlay") -> None:
        exported = [checkpoint_file.load(folder / "net.pt")[0].state_dict() for folder in (one, other)]
        torch.testing.assert_close(*exported, rtol=0, atol=0)
        a, b = peek(one / "last.ckpt"), peek(other / "last.ckpt")
        for part in ("state_dict", "ema", "optimizer_states", "lr_schedulers", "ema_updates", "global_step", "means"):
            torch.testing.assert_close(a[part], b[part], rtol=0, atol=0)
        if data is not None:
            held = [checkpoint[data] for checkpoint in (a, b)]
            assert held[0]["played"] == held[1]["played"]
            for part in ("rows", "held"):
                assert torch.equal(held[0][part], held[1][part])
        assert _rows(one) == _rows(other)

    return same

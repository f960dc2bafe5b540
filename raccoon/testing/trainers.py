"""Checks of trainers, callbacks and loggers."""

from __future__ import annotations

from typing import Any

from raccoon.config.instantiate import build
from raccoon.testing.subjects import expect

__all__ = ["check_callback", "check_logger", "check_trainer"]


def check_trainer(trainer: Any, net: Any) -> None:
    """Check a trainer given as a config node and built around ``net``: a LightningModule that says which data it needs, when it ends,
    what it exports (``raccoon.train.contract.TrainerModule``), how it steps, and whose hyper-parameters survive a weights-only load."""
    from lightning.pytorch import LightningModule

    from raccoon.config.targets import members
    from raccoon.data.contract import KINDS, Labeller
    from raccoon.train.contract import TrainerModule

    module: Any = build(trainer, "trainer", LightningModule, net=net)
    expect(isinstance(module, LightningModule), f"{type(module).__name__} is not a LightningModule")
    for name in sorted(members(TrainerModule)):
        expect(hasattr(module, name), f"a trainer needs the attribute {name}; see raccoon.train.contract.TrainerModule")
    expect(module.needs in KINDS, f"needs={module.needs!r}: say one of {', '.join(KINDS)}")
    learns_by_play = module.needs in ("games", "searched_games")
    given: object = module
    labels = isinstance(given, Labeller)
    expect(labels or not learns_by_play, f"a trainer that needs {module.needs} needs label(episodes, engine)")
    expect(learns_by_play or isinstance(module.epoch_figures(), dict), "epoch_figures must give a dict of tensors")
    expect(type(module).training_step is not LightningModule.training_step, "a trainer needs training_step")
    expect(type(module).configure_optimizers is not LightningModule.configure_optimizers, "a trainer needs configure_optimizers")
    checkpoint: dict[str, Any] = {}
    module.on_save_checkpoint(checkpoint)
    expect(
        "raccoon" in checkpoint, 'on_save_checkpoint must put checkpoint_file.header(net, meta) under "raccoon", or the file is no network'
    )
    for key, value in dict(module.hparams).items():
        expect(_is_plain(value), f"hyper-parameter {key} is a {type(value).__name__}: weights-only loading takes plain values alone")


def check_callback(callback: Any) -> None:
    """Check that a config node builds a Lightning callback."""
    from lightning.pytorch import Callback

    built = build(callback, "callback")
    expect(isinstance(built, Callback), f"{type(built).__name__} is not a Lightning Callback")


def check_logger(logger: Any) -> None:
    """Check that a config node builds a Lightning logger that takes metrics."""
    from lightning.pytorch.loggers import Logger

    built = build(logger, "logger")
    expect(isinstance(built, Logger), f"{type(built).__name__} is not a Lightning Logger")
    built.log_metrics({"check/loss": 1.0}, step=0)
    built.save()
    built.finalize("success")


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, str | int | float | bool)

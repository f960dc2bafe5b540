"""``train(cfg, run)``: from a resolved config to trained weights and a report. The only place where Lightning's Trainer is made."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import Callback, ProgressBar, Timer

from raccoon.config.instantiate import build
from raccoon.contracts import Evaluator, RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.executor import core_count
from raccoon.model import RaccoonNet, build_net, checkpoint_file
from raccoon.report.wandb_tables import log_report
from raccoon.rng import torch_seed
from raccoon.runs import interrupts
from raccoon.runs.folder import Run
from raccoon.train import final
from raccoon.train.callbacks.checkpoints import TIMED, AtomicCheckpointIO, checkpoint_callbacks, drop_timed, peek, resume_path
from raccoon.train.callbacks.early_stopping import check_monitors
from raccoon.train.callbacks.expected import Expected
from raccoon.train.callbacks.history import EpochFigures, History
from raccoon.train.callbacks.progress import EpochBar, EpochLines
from raccoon.train.callbacks.save_on_interrupt import KeepsWork
from raccoon.train.callbacks.tracking import Tracking
from raccoon.train.contract import TrainerModule, check_pair, declare
from raccoon.train.loggers import build_loggers, closing_loggers, run_ids

__all__ = ["Parts", "build_parts", "quiet_trainer", "train"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Parts:
    """What a training is put together from: the trainer with its network, the data, the measurements of the end by name."""

    module: pl.LightningModule
    trains: TrainerModule
    data: pl.LightningDataModule
    evaluators: Mapping[str, Evaluator]


def build_parts(cfg: Mapping[str, Any], planned: Mapping[str, RaccoonNet | None] | None = None) -> Parts:
    """Everything of a training but Lightning's Trainer, built from the plain ``cfg``: nothing is labelled, trained or written.

    ``planned``: paths that ``cfg`` names and another training is to write first, with a network like the one that will be there (None:
    a set of labels). Raises RaccoonError naming the key for settings that cannot work.
    """
    planned = planned or {}
    encoder = build(cfg["encoder"], "encoder", Encoder)
    net = _network(cfg, encoder, planned)
    module = build(cfg["trainer"], "trainer", pl.LightningModule, net=net)
    data = build(cfg["data"], "data", pl.LightningDataModule)
    trains = declare(module)
    if not set(cfg["data"].get("folders") or ()) & planned.keys():  # it says what there will be
        check_pair(trains, data)
    evaluators = final.build_evaluators(cfg)
    trains.meta = _meta(cfg)
    return Parts(module, trains, data, evaluators)


def train(cfg: Mapping[str, Any], run: Run) -> Path:
    """Train as ``cfg`` (plain and resolved) says in ``run.dir``; returns the path of the ``report.json`` written at the end.

    A run that was interrupted continues from its newest checkpoint and gives the same weights as an uninterrupted one.
    Raises RaccoonError naming the key for settings that cannot work, before any label is made or step taken.
    """
    torch.set_flush_denormal(True)
    parts = build_parts(cfg)
    module, net, history = parts.module, parts.trains.net, History(run.dir)
    if cfg.get("init") is not None:
        log.info("weights start from %s", cfg["init"])
    told = f"{sum(parameter.numel() for parameter in net.parameters()):,}", net.encoder.describe(), type(module).__name__
    log.info("%s parameters, %s, %s from %s", *told, parts.trains.needs.replace("_", " "))
    with closing_loggers():
        with quiet_trainer():
            expected = Expected((cfg.get("runtime") or {}).get("tflops"))
            trainer = _trainer(cfg, run, parts.trains, history, expected)
            path = _continue_from(run)
            if path is not None:
                log.info("continuing from %s", path)
            with interrupts.heard():
                trainer.fit(module, datamodule=parts.data, ckpt_path=path, weights_only=True)
        if trainer.is_global_zero:
            drop_timed(run.dir)
        work = expected.table(history.rows)
        report = final.export_and_measure(cfg, run, module, history.rows, parts.evaluators, trainer.strategy.root_device, work)
        if trainer.is_global_zero:
            log_report(trainer.loggers, run.dir)
    return report


def _network(cfg: Mapping[str, Any], encoder: Encoder, planned: Mapping[str, RaccoonNet | None] | None = None) -> RaccoonNet:
    """The network of ``cfg``: fresh weights from the seed, or those of the checkpoint ``init`` of the same architecture. A policy
    head that only one of the two has starts fresh or is left out."""
    net = build_net(cfg["model"], encoder, seed=torch_seed(cfg["seed"], "network"))
    if cfg.get("init") is not None:
        start = (planned or {}).get(cfg["init"]) or checkpoint_file.load(cfg["init"])[0]
        checkpoint_file.check_layout(start, encoder, cfg["init"])
        weights = start.state_dict()
        if start.config["policy"] != net.config["policy"]:
            heads = {key: value for key, value in net.state_dict().items() if key.startswith("policy.")}
            weights = {key: value for key, value in weights.items() if not key.startswith("policy.")} | heads
            told = "a policy head: it is left out" if not heads else "no policy head like that: it starts fresh"
            log.info("%s has %s", cfg["init"], told)
        try:
            net.load_state_dict(weights)
        except RuntimeError as error:
            why = " ".join(str(error).split())[:300]
            raise RaccoonError(f"init={cfg['init']}: holds another architecture than model: {why}") from error
    return net


def _trainer(cfg: Mapping[str, Any], run: Run, module: TrainerModule, history: History, expected: Expected) -> pl.Trainer:
    loggers = _loggers(cfg.get("logger") or {}, run)
    callbacks = {name: build(node, f"callbacks.{name}", Callback) for name, node in (cfg.get("callbacks") or {}).items() if node}
    check_monitors(callbacks, module)
    monitor = module.monitor or ("val/pr" if "pr" in callbacks else module.monitor_without_pr)
    saving = checkpoint_callbacks(run.dir, monitor, module.checkpoint_minutes)
    extra: list[Callback] = [history, expected, KeepsWork(run.dir / TIMED), Tracking(run.dir, cfg, history), *saving]
    if module.max_minutes is not None:
        extra.append(Timer(timedelta(minutes=module.max_minutes), verbose=False))
    on_terminal = sys.stderr.isatty()
    if on_terminal and not any(isinstance(callback, ProgressBar) for callback in callbacks.values()):
        extra.append(EpochBar(leave=False))
    extra.append(EpochLines(None) if on_terminal else EpochLines())
    flags = {key: value for key, value in (cfg.get("runtime") or {}).items() if key != "tflops"}
    _check_devices(flags)
    try:
        return pl.Trainer(
            **flags,
            max_epochs=module.max_epochs,
            gradient_clip_val=module.gradient_clip_val,
            callbacks=[EpochFigures(), *callbacks.values(), *extra, _RunIds()],
            logger=loggers or False,
            plugins=[AtomicCheckpointIO()],
            default_root_dir=run.dir,
            num_sanity_val_steps=0,
            enable_model_summary=False,
            enable_progress_bar=on_terminal,
        )
    except (TypeError, ValueError, ImportError, MisconfigurationException) as error:
        raise RaccoonError(f"runtime: Lightning's Trainer refuses it: {error}") from error


def _check_devices(flags: Mapping[str, Any]) -> None:
    """On a CPU every device is a process that holds everything: more than there are cores can only exhaust the machine."""
    devices, cores = flags.get("devices"), core_count()
    if flags.get("accelerator") == "cpu" and isinstance(devices, int) and devices > max(cores, 2):
        raise RaccoonError(f"runtime.devices={devices}: with accelerator=cpu each is a process, and this machine has {cores} cores")


class _RunIds(Callback):
    """Keeps the ids of logger runs in every checkpoint, so that a continued training continues them too."""

    def on_save_checkpoint(self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        checkpoint["loggers"] = run_ids(trainer.loggers)


def _loggers(nodes: Mapping[str, Any], run: Run) -> list[Any]:
    path = _continue_from(run)
    return build_loggers(nodes, peek(path).get("loggers", {}) if path else {})


def _continue_from(run: Run) -> Path | None:
    return resume_path(run.dir) if run.resumed else None


def _meta(cfg: Mapping[str, Any]) -> dict[str, Any]:
    """What a checkpoint says about its making: the settings of the trainer and the data, and the seed."""
    return {"seed": cfg["seed"], "trainer": dict(cfg["trainer"]), "data": dict(cfg["data"])}


@contextlib.contextmanager
def quiet_trainer() -> Iterator[None]:
    """Silence, here only, messages that are about choices made on purpose."""
    with warnings.catch_warnings():
        for message in (
            r".*LeafSpec.* is deprecated.*",  # Lightning 2.6 with torch 2.13
            r".*Checkpoint directory .* exists and is not empty.*",  # a continued run writes where it wrote before
            r".*does not have many workers.*",  # the loader prefetches by thread; decoding releases the GIL
            r".*(is smaller than the logging interval).*",  # small sets
            r".*Total length of .* across ranks is zero.*",  # refused with a better message
            r".*module\(s\) in eval mode at the start of training.*",  # what is frozen stays as it is
            r".*self\.log\('val/.*sync_dist=True.*",  # they are those of all processes before they are logged
            r".*GPU available but not used.*",  # runtime=cpu says so
            r".*Experiment logs directory .* exists and is not empty.*",
        ):
            warnings.filterwarnings("ignore", message=message)
        levels = {name: logging.getLogger(name).level for name in ("lightning.pytorch", "lightning.fabric", "lightning")}
        for name in levels:
            logging.getLogger(name).setLevel(logging.WARNING)
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)

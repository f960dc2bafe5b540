"""Figures of every epoch: in a CSV, in the log, and in the checkpoint, so that a continued run keeps its past."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback

from raccoon.files import write_csv

__all__ = ["EpochFigures", "History"]

log = logging.getLogger(__name__)
_SHOWN = (("train/loss", "loss"), ("val/r2", "R2"), ("val/mse", "MSE"), ("val/ce", "CE"), ("val/pr", "PR"), ("val/vr_ppg", "VR ppg"))
_SHOWN += (("val/policy_ce", "policy CE"), ("val/policy_top1", "policy top 1"))


class EpochFigures(Callback):
    """Logs a trainer's ``epoch_figures()`` at the end of the epoch. Comes first, so that other callbacks find them logged."""

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        figures: Any = getattr(pl_module, "epoch_figures", dict)
        pl_module.log_dict(figures(), sync_dist=True)


class History(Callback):
    """``rows``: one dict an epoch (epoch from 1, step, learning rate, seconds, every logged figure), also in ``folder/metrics.csv``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[dict[str, float]] = []
        self._started = time.monotonic()
        self._before = 0.0  # seconds that the epoch took before a checkpoint in its middle

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._started = time.monotonic()  # a run continued within an epoch does not start that epoch again

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._started, self._before = time.monotonic(), 0.0

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        row: dict[str, float] = {
            "epoch": trainer.current_epoch + 1,
            "step": trainer.global_step,
            "lr": float(trainer.optimizers[0].param_groups[0]["lr"]),
            "seconds": round(self._seconds(), 3),
        }
        logged = {name: float(value) for name, value in trainer.callback_metrics.items() if not name.endswith("_step")}
        row |= dict(sorted(logged.items()))
        self.rows.append(row)
        if trainer.is_global_zero:
            write_csv(self.folder / "metrics.csv", self.rows)
            shown = ", ".join(f"{label} {row[name]:.4g}" for name, label in _SHOWN if name in row)
            log.info("epoch %d of %s: %s (%.1f s)", row["epoch"], trainer.max_epochs, shown, row["seconds"])

    def state_dict(self) -> dict[str, Any]:
        return {"rows": [dict(row) for row in self.rows], "seconds": self._seconds()}

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._started

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows = [dict(row) for row in state_dict["rows"]]
        self._before = float(state_dict.get("seconds", 0.0))

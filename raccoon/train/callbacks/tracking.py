"""What loggers and the run folder are told beside the figures of the modules: provenance, learning rate and time of the epochs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback

from raccoon.data.provenance import describe_data
from raccoon.runs import provenance
from raccoon.train.callbacks.history import History
from raccoon.train.loggers import begin

__all__ = ["Tracking"]


class Tracking(Callback):
    """Once the data is there, tells where it comes from (``provenance.json`` in ``folder``, and the loggers, with ``config``); after
    every epoch logs its learning rate and seconds. Comes after ``history``, whose rows it reads. Only rank 0 works."""

    def __init__(self, folder: Path, config: Mapping[str, Any], history: History) -> None:
        self.folder = folder
        self.config = config
        self.history = history

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write and send the provenance."""
        if trainer.is_global_zero:
            data = getattr(trainer, "datamodule", None)
            known = provenance.record(self.folder, data=describe_data(data, self.config["data"]))
            begin(trainer.loggers, self.config, known)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Send what only the history measures."""
        if trainer.is_global_zero:
            row = self.history.rows[-1]
            extra = {"train/lr": row["lr"], "train/epoch_seconds": row["seconds"], "epoch": trainer.current_epoch}
            for logger in trainer.loggers:
                logger.log_metrics(extra, step=trainer.global_step)

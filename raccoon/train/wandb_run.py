"""Weights & Biases for runs of this program: epochs on the x axis, the whole config, provenance. Imported only where it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightning.pytorch.loggers import WandbLogger

__all__ = ["EpochWandbLogger"]


class EpochWandbLogger(WandbLogger):
    """Lightning's logger, its scalars drawn over epochs from 1, as in ``metrics.csv``; takes what ``WandbLogger`` takes."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Log scalars; ``epoch``, where it is one of them, counts from 0 as Lightning's does."""
        counted = {name: value + 1 if name == "epoch" else value for name, value in metrics.items()}
        super().log_metrics(counted, step)

    def begin(self, config: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
        """Open the run (on rank 0; elsewhere nothing happens): the resolved ``config``, ``provenance``, epochs as the x axis."""
        run: Any = self.experiment
        run.define_metric("epoch")
        run.define_metric("*", step_metric="epoch", step_sync=True, overwrite=True)
        run.config.update({**config, "provenance": dict(provenance)}, allow_val_change=True)

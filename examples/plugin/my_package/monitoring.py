"""The size of the weights, and figures as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities import rank_zero_only


class WeightNorm(Callback):
    """Logs ``train/weight_norm``, the Euclidean norm of all weights, after every ``every``-th epoch."""

    def __init__(self, every: int = 1) -> None:
        self.every = every

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if (trainer.current_epoch + 1) % self.every == 0:
            squares = [weights.detach().square().sum() for weights in pl_module.parameters()]
            pl_module.log("train/weight_norm", float(sum(squares)) ** 0.5)


class JsonLines(Logger):
    """One JSON object a step in ``save_dir/name.jsonl``."""

    def __init__(self, save_dir: str, name: str = "my_jsonl") -> None:
        super().__init__()
        self._name = name
        self.path = Path(save_dir) / f"{name}.jsonl"

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> str:
        return ""

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        self._write({"step": step, **metrics})

    @rank_zero_only
    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        self._write({"params": dict(params)})

    def _write(self, record: Mapping[str, Any]) -> None:
        with open(self.path, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(record, default=str) + "\n")

"""What a training is expected to take by its arithmetic, told when it starts and held against what it took in the report."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback

from raccoon.checks import number
from raccoon.model import RaccoonNet
from raccoon.progress import duration
from raccoon.train.flops import flops_of, minutes_of

__all__ = ["Expected", "check_tflops"]

log = logging.getLogger(__name__)


def check_tflops(value: Any) -> float | None:
    """``runtime.tflops``. Raises RaccoonError for what is no speed."""
    return None if value is None else number("runtime.tflops", value, "TFLOP/s of one device, a number above 0, or null", above=True)


class Expected(Callback):
    """Logs once what a row costs, how many rows there will be and, with ``tflops`` (TFLOP/s that one device keeps up, None: unknown), how
    long they take. ``table`` says so in the report. Nothing is told of a trainer without a ``RaccoonNet`` or data without batches of one
    size."""

    def __init__(self, tflops: float | None) -> None:
        self.tflops = check_tflops(tflops)
        self._row: dict[str, Any] = {}
        self._rows_a_step = self._speed = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Count and tell."""
        net, size = getattr(pl_module, "net", None), getattr(getattr(trainer, "datamodule", None), "batch_size", None)
        steps = float(trainer.estimated_stepping_batches)
        if not isinstance(net, RaccoonNet) or not isinstance(size, int) or steps == float("inf"):
            return
        decides = getattr(pl_module, "policy_weight", 0) > 0
        flops = flops_of(net, value=getattr(pl_module, "value_weight", 1) > 0 or not decides, policy=decides)
        self._rows_a_step = float(size * trainer.world_size * trainer.accumulate_grad_batches)
        rows = steps * self._rows_a_step
        self._row = {
            "parameters": sum(weights.numel() for weights in net.parameters()),
            "MFLOP a row, forward": flops.forward / 1e6,
            "MFLOP a row, training": flops.training / 1e6,
            "rows planned": int(rows),
            "TFLOP in all": rows * flops.training / 1e12,
        }
        if self.tflops is not None:
            expected = minutes_of(rows * flops.training, self.tflops * trainer.world_size)
            self._row["minutes expected"] = min(expected, getattr(pl_module, "max_minutes", None) or expected)
        if trainer.is_global_zero:
            told = f"{rows:,.0f} rows of {flops.training / 1e6:.3g} MFLOP to train on ({flops.forward / 1e6:.3g} of them forward)"
            log.info("%s, %.3g TFLOP in all%s", told, self._row["TFLOP in all"], self._time())

    def _time(self) -> str:
        minutes = self._row.get("minutes expected")
        return "" if minutes is None else f": about {duration(60 * minutes)} at runtime.tflops={self.tflops:g}"

    def table(self, epochs: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
        """One row, what was expected beside what the ``epochs`` (rows of the history) took; none where nothing could be counted."""
        if not self._row or not epochs:
            return []
        seconds, rows = sum(row["seconds"] for row in epochs), epochs[-1]["step"] * self._rows_a_step
        sustained = rows * self._row["MFLOP a row, training"] / 1e6 / seconds if seconds else None
        return [self._row | {"rows trained on": int(rows), "minutes of epochs": seconds / 60, "TFLOP/s": sustained}]

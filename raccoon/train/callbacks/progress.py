"""How far an epoch is: a bar on a terminal, lines in the log elsewhere, and an estimate of its time after the first batches."""

from __future__ import annotations

import logging
import time
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback, RichProgressBar

from raccoon.progress import duration

__all__ = ["EpochBar", "EpochLines"]

log = logging.getLogger(__name__)
_FIRST_S = 5.0  # measured before the first estimate
_EVERY_S = 30.0


class EpochBar(RichProgressBar):
    """Lightning's bar with the mean training loss of the epoch so far."""

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        """See ``RichProgressBar.get_metrics``; the number of a logger's version tells nobody anything."""
        shown = dict(super().get_metrics(trainer, pl_module))
        shown.pop("v_num", None)
        loss = _loss(pl_module)
        return shown if loss is None else {"loss": f"{loss:.4g}"} | shown


class EpochLines(Callback):
    """Logs, once in a run, how long an epoch takes, as soon as some batches are done; and with ``every`` so many seconds how far it is
    and what is left. Only rank 0 speaks, and not about epochs that are shorter than that."""

    def __init__(self, every: float | None = _EVERY_S) -> None:
        self.every = every
        self._first: tuple[float, int] | None = None  # when which batch of the epoch was done: the first one that ran here
        self._told = 0.0
        self._estimated = False

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Measure anew."""
        self._first = None

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Tell, now and then."""
        now, total = time.monotonic(), trainer.num_training_batches
        if self._first is None:
            self._first = now, batch_idx
            self._told = now
        done = batch_idx - self._first[1]
        if not done or not trainer.is_global_zero or total == float("inf"):
            return
        each = (now - self._first[0]) / done
        if not self._estimated and now - self._first[0] >= _FIRST_S:
            self._estimated = True
            if each * total > _EVERY_S:
                log.info("an epoch has %s batches of %.3g s: about %s", f"{total:,}", each, duration(each * total))
        if self.every is not None and now - self._told >= self.every:
            self._told = now
            loss = _loss(pl_module)
            shown = "" if loss is None else f", loss {loss:.4g}"
            at = f"{batch_idx + 1:,} of {total:,}"
            log.info("epoch %d: batch %s%s, %s left", trainer.current_epoch + 1, at, shown, duration(each * (total - batch_idx - 1)))


def _loss(pl_module: pl.LightningModule) -> float | None:
    """Mean training loss of the epoch so far, of a trainer that tells it."""
    figures: Any = getattr(pl_module, "epoch_figures", dict)
    loss = figures().get("train/loss")
    return None if loss is None else float(loss)

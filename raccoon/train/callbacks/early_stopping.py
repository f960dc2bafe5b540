"""The callback ``early_stopping``: the end of a run whose figure does not improve any more."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.callbacks import EarlyStopping as LightningEarlyStopping
from lightning.pytorch.callbacks.early_stopping import EarlyStoppingReason

from raccoon.checks import whole
from raccoon.contracts import RaccoonError
from raccoon.train.callbacks.arena_points import ArenaPoints
from raccoon.train.callbacks.benchmark_pr import BenchmarkPR
from raccoon.train.callbacks.previous_net import PreviousNet
from raccoon.train.callbacks.seldom import SeldomMeasured
from raccoon.train.contract import TrainerModule

__all__ = ["EarlyStopping", "check_monitors"]

log = logging.getLogger(__name__)
_GIVEN_BY = {
    figure: name for name, kind in (("pr", BenchmarkPR), ("vr", ArenaPoints), ("previous", PreviousNet)) for figure in kind.figures
}
"""Figures that a callback logs, and what that is called in ``callbacks``."""


class EarlyStopping(LightningEarlyStopping):
    """Lightning's, whose settings it has, but ``patience`` counts the epochs in which ``monitor`` was measured, where a callback measures
    it in some epochs only (``SeldomMeasured``). Those that carry an old figure are passed over. What was counted is in the checkpoints,
    and a run that was stopped is not trained on when it is continued.
    """

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A run that has been stopped before only has to end."""
        if self.stopping_reason != EarlyStoppingReason.NOT_STOPPED:
            trainer.should_stop = True

    def _run_early_stopping_check(self, trainer: pl.Trainer) -> None:
        """The check that Lightning makes after an epoch or a validation, where the figure is of this epoch."""
        if not self._counts(trainer):
            return
        super()._run_early_stopping_check(trainer)
        if trainer.should_stop and self.stopped_epoch == trainer.current_epoch and self.stopping_reason_message:
            log.info("early stopping: %s", self.stopping_reason_message)

    def _counts(self, trainer: pl.Trainer) -> bool:
        """Whether the figure is of this epoch. Raises RaccoonError for one that nobody logs."""
        callbacks: list[Callback] = getattr(trainer, "callbacks", [])
        giver = _giver(self.monitor, callbacks)
        if giver is not None:
            return giver.measured_in == trainer.current_epoch
        there = trainer.callback_metrics
        if self.monitor not in there and self.strict:
            names = ", ".join(sorted(name for name in there if not name.endswith("_step")))
            raise RaccoonError(
                f"callbacks: early stopping by monitor={self.monitor}, which is not logged in this run; choose one of {names}"
            )
        return True


def check_monitors(callbacks: Mapping[str, Callback], module: TrainerModule) -> None:
    """Raise RaccoonError, naming the key, for a patience below 0 and for early stopping by a figure that neither ``module`` nor one of
    ``callbacks`` (by name) measures within the run. What callbacks from elsewhere log is not known beforehand."""
    seldom = [callback for callback in callbacks.values() if isinstance(callback, SeldomMeasured)]
    foreign = any(not type(callback).__module__.startswith(("raccoon.", "lightning.")) for callback in callbacks.values())
    validated: Iterable[str] | None = getattr(module, "validated", None)  # those from elsewhere need not say
    known = None if foreign or validated is None else {*validated, *(figure for one in seldom for figure in one.figures)}
    for name, callback in callbacks.items():
        if not isinstance(callback, LightningEarlyStopping):
            continue
        whole(f"callbacks.{name}.patience", callback.patience, 0)
        monitor, giver = callback.monitor, _giver(callback.monitor, seldom)
        key, by = f"callbacks.{name}.monitor={monitor}", _GIVEN_BY.get(monitor)
        if giver is not None:
            if giver.never_within(module.max_epochs):
                told = f"is measured every {giver.every} epochs, and trainer.max_epochs={module.max_epochs} ends before"
                raise RaccoonError(f"{key}: {told}; lower callbacks.{giver.option}.every")
        elif by is not None:
            advice = f"leave callbacks.{by} in, or give callbacks.{name}.monitor=val/mse"
            raise RaccoonError(f"{key}: is logged by callbacks.{by}, which is not there; {advice}")
        elif known is not None and monitor.startswith("val/") and monitor not in known:
            raise RaccoonError(f"{key}: is not measured in this run; choose one of {', '.join(sorted(known))}")


def _giver(monitor: str, callbacks: Iterable[Callback]) -> SeldomMeasured | None:
    """Who measures ``monitor`` in some epochs only."""
    return next((one for one in callbacks if isinstance(one, SeldomMeasured) and monitor in one.figures), None)

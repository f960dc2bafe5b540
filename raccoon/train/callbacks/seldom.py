"""What callbacks share that measure a figure in some epochs only."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback

from raccoon.checks import whole

__all__ = ["SeldomMeasured"]


class SeldomMeasured(Callback, ABC):
    """Logs ``figures`` after the validation of every ``every``-th epoch (``measure`` says what they are); the epochs in between carry
    the last ones. ``option``: the callback's name in ``callbacks``. ``ends``: the first and the last epoch are measured as well, also
    where a time budget ends the run early.

    ``measured_in``: the newest epoch (from 0) whose figures are of its own, -1 before there is one. ``EarlyStopping`` counts no others.
    Only the first process measures.
    """

    figures: ClassVar[tuple[str, ...]] = ()
    option: ClassVar[str] = ""
    ends: ClassVar[bool] = True

    def __init__(self, every: int) -> None:
        self.every = whole(f"callbacks.{self.option}.every", every, 1)
        self.measured_in = -1
        self._last: tuple[float, ...] = (math.nan,) * len(self.figures)

    def never_within(self, epochs: int | None) -> bool:
        """Whether a run of so many ``epochs`` (None: no limit) ends before the first measurement."""
        return not self.ends and epochs is not None and 0 <= epochs < self.every

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Measure where it is due, and log."""
        if trainer.sanity_checking:
            return
        if self._due(trainer):
            found = self.measure(trainer, pl_module) if trainer.is_global_zero else (0.0,) * len(self.figures)
            self._last = tuple(float(value) for value in trainer.strategy.broadcast(tuple(found)))
            self.measured_in = trainer.current_epoch
        if not math.isnan(self._last[0]):
            pl_module.log_dict(dict(zip(self.figures, self._last, strict=True)), rank_zero_only=False)

    def _due(self, trainer: pl.Trainer) -> bool:
        """The first epoch counts where figures choose the best checkpoint or may stop the run: they must be finite."""
        epoch = trainer.current_epoch + 1
        if epoch % self.every == 0:
            return True
        return self.ends and (epoch == trainer.max_epochs or trainer.should_stop or not math.isfinite(self._last[0]))

    @abstractmethod
    def measure(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> Sequence[float]:
        """The values of ``figures`` now; not a number where the first cannot be told."""

    def state_dict(self) -> dict[str, Any]:
        """The last figures, and in which epoch they were measured."""
        return {"last": list(self._last), "measured_in": self.measured_in}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave, here or in an earlier version."""
        last = state_dict["last"]
        self._last = tuple(last) if isinstance(last, Sequence) else (float(last),)
        self.measured_in = int(state_dict.get("measured_in", -1))

"""What trainers that learn from games of their own network share."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from raccoon.train.distill import Distillation

__all__ = ["SelfTaught"]


class SelfTaught(Distillation):
    """A shell whose data plays: it logs what the games of an epoch were like, and no epoch is best unless the callback ``pr`` says so,
    for held-out errors are against targets of the same run."""

    monitor_without_pr: str | None = None
    data_options = "data=selfplay"

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Loss of one batch; with the last one of an epoch, what its games were like."""
        loss = super().training_step(batch, batch_idx)
        if self.trainer.is_last_batch:
            figures = getattr(getattr(self.trainer, "datamodule", None), "figures", {})
            self.log_dict(figures, on_step=False, on_epoch=True, batch_size=1, sync_dist=True)
        return loss

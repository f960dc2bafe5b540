"""Huber loss on equity."""

from __future__ import annotations

from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor
from torch.nn import functional as F

from raccoon.model import checkpoint_file
from raccoon.contracts import RaccoonError
from raccoon.model import RaccoonNet
from raccoon.train.objectives.targets import VALUE_TO_POINTS, equity_value


class Huber(pl.LightningModule):
    """Regresses the value, whatever the head, with a Huber loss that turns linear at ``delta`` (value scale)."""

    needs = "positions"
    monitor = None
    monitor_without_pr = "val/mse"

    def __init__(
        self,
        net: RaccoonNet,
        *,
        lr: float = 1e-3,
        delta: float = 0.05,
        max_epochs: int = 10,
        max_minutes: float | None = None,
        checkpoint_minutes: float | None = 5.0,
        gradient_clip_val: float | None = 1.0,
    ) -> None:
        super().__init__()
        if delta <= 0:
            raise RaccoonError(f"trainer.delta={delta}: give a number above 0")
        self.net = net
        if net.policy is not None:
            net.policy.requires_grad_(False)  # no target reaches it
        self.lr, self.delta, self.gradient_clip_val = lr, delta, gradient_clip_val
        self.max_epochs, self.max_minutes, self.checkpoint_minutes = max_epochs, max_minutes, checkpoint_minutes
        self.meta: dict[str, Any] = {}

    @property
    def best_net(self) -> RaccoonNet:
        return self.net

    def epoch_figures(self) -> dict[str, Tensor]:
        return {}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW((p for p in self.parameters() if p.requires_grad), lr=self.lr)

    def training_step(self, batch: tuple[Tensor, Tensor], batch_idx: int) -> Tensor:
        boards, probs6 = batch
        loss = F.huber_loss(self.net.value_equity(self.net.prepare(boards)), equity_value(probs6), delta=self.delta)
        self.log("train/loss", loss.detach(), on_step=False, on_epoch=True, batch_size=len(boards))
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor], batch_idx: int) -> None:
        boards, probs6 = batch
        error = self.net.value_equity(self.net.prepare(boards)) - equity_value(probs6)
        mse = (error * VALUE_TO_POINTS).square().mean()
        self.log("val/mse", mse, batch_size=len(boards), sync_dist=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["raccoon"] = checkpoint_file.header(self.net, self.meta)

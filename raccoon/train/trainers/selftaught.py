"""What trainers that learn from games of their own network share."""

from __future__ import annotations

import torch
from torch import Tensor

from raccoon.data.contract import Kind, PlaysGames
from raccoon.train.trainers.base import ValueTrainer

__all__ = ["SelfTaught"]


class SelfTaught(ValueTrainer):
    """A shell whose data plays: it logs what the games of an epoch were like, and no epoch is best unless the callback ``pr`` says so,
    for held-out errors are against targets of the same run."""

    monitor_without_pr: str | None = None
    needs: Kind = "games"

    def epoch_figures(self) -> dict[str, Tensor]:
        """What the batches of the epoch were like so far, and its games."""
        data: object = self.trainer.datamodule  # pyright: ignore[reportAttributeAccessIssue]
        figures = data.figures if isinstance(data, PlaysGames) else {}
        return super().epoch_figures() | {name: torch.tensor(value, device=self.device) for name, value in figures.items()}

"""Exponential moving average of a network's weights. No Lightning here."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import PARAM_LIST, AveragedModel

from raccoon.contracts import RaccoonError

__all__ = ["Ema", "decay_at"]


def decay_at(updates: int, decay: float) -> float:
    """Decay of update number ``updates`` (from 1): short at first, so that a short run is not its random start."""
    return min(decay, (1.0 + updates) / (10.0 + updates))


class Ema:
    """Average of ``net``'s weights and float buffers (batch-norm statistics); integer buffers are copied.

    ``decay`` is the weight of the old average at each update once it has warmed up (see ``decay_at``). ``Ema`` is not a
    module on purpose: it stays out of the optimiser and of the training module's own state.
    """

    def __init__(self, net: nn.Module, decay: float) -> None:
        if not 0.0 <= decay < 1.0:
            raise RaccoonError(f"trainer.ema_decay={decay}: give a number in [0, 1), or null for no averaging")
        self.decay = decay
        self._model = AveragedModel(net, multi_avg_fn=self._average, use_buffers=True)
        self._model.requires_grad_(False).eval()

    @property
    def net(self) -> nn.Module:
        """The averaged network, in evaluation mode."""
        return self._model.module

    @torch.no_grad()
    def update(self, net: nn.Module) -> None:
        """Move the average towards ``net``."""
        self._model.update_parameters(net)

    def to(self, device: torch.device) -> None:
        """Move the average to ``device``. The count stays where it is: reading it at every step would make the CPU wait for a GPU."""
        self.net.to(device)

    def state_dict(self) -> dict[str, Any]:
        """``{"net": weights of the average, "updates": number of updates}``."""
        return {"net": self.net.state_dict(), "updates": int(self._model.n_averaged)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave."""
        self.net.load_state_dict(state["net"])
        self._model.n_averaged.fill_(state["updates"])

    def _average(self, averaged: PARAM_LIST, current: PARAM_LIST, updates: Tensor | int) -> None:
        if averaged[0].is_floating_point():
            decay = decay_at(int(self._model.n_averaged), self.decay)  # ``updates`` is the same number on the device of the weights
            torch._foreach_lerp_(averaged, current, 1.0 - decay)  # pyright: ignore[reportPrivateImportUsage]
        else:
            for old, new in zip(averaged, current, strict=True):
                old.copy_(new)

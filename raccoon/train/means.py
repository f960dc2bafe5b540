"""Means over the batches of an epoch that a checkpoint in its middle keeps. No Lightning here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

__all__ = ["RunningMeans"]


class RunningMeans:
    """Sums of named figures. What ``add`` was given counts from ``commit`` on: a step that is abandoned leaves nothing behind."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor] = {}
        self._noted: list[tuple[str, Tensor]] = []

    def add(self, figures: Mapping[str, Tensor]) -> None:
        """Note the figures of a batch, each a scalar; each has its own count of batches."""
        self._noted += [(name, value.detach().float()) for name, value in figures.items()]

    def commit(self) -> None:
        """Count what was noted."""
        for name, value in self._noted:
            one = torch.stack([value, torch.ones_like(value)])
            self._sums[name] = self._sums[name].to(one.device) + one if name in self._sums else one
        self._noted = []

    def clear(self) -> None:
        """Start again."""
        self._sums, self._noted = {}, []

    def means(self) -> dict[str, Tensor]:
        """The mean of each figure over the batches that had it."""
        return {name: sums[0] / sums[1] for name, sums in self._sums.items()}

    def state_dict(self, reduce: Callable[[Tensor], Tensor] = torch.clone) -> dict[str, Tensor]:
        """The sums; ``reduce`` makes one of those of several processes."""
        return {name: reduce(self._sums[name].clone()) for name in sorted(self._sums)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what ``state_dict`` gave."""
        self._sums, self._noted = dict(state), []

"""Fully connected trunk on the flat encoding."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from torch import Tensor, nn

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model.backbones.base import Backbone

__all__ = ["MLP"]

_MOST_LAYERS = 1000


class MLP(Backbone):
    """Linear-ReLU layers of the widths ``hidden``; output ``[N, hidden[-1]]``."""

    form = "flat"

    def __init__(self, encoder: Encoder, hidden: Sequence[int]) -> None:
        super().__init__()
        if not 1 <= len(hidden) <= _MOST_LAYERS or min(hidden) < 1:
            raise RaccoonError(f"model.backbone.hidden={quoted(list(hidden))}: give one to {_MOST_LAYERS} positive widths")
        widths = [encoder.flat_size, *hidden]
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.shape = (widths[-1],)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)

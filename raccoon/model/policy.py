"""Policy heads over OpenSpiel's 1352 actions, and the mask that keeps them legal."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from raccoon import checks
from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.env.half_moves import N_ACTIONS
from raccoon.model.folding import fold

__all__ = ["Neck", "OwnPolicy", "Policy", "make_policy", "mask_logits"]

_MOST_LAYERS = 100


class Neck(nn.Module):
    """Features ``[N, width]`` from a trunk output ``[N, *shape]``.

    Planes go through a 1x1 convolution to ``planes`` channels, BN and ReLU; flat features pass as they are.
    """

    def __init__(self, shape: tuple[int, ...], planes: int) -> None:
        super().__init__()
        self.flat = len(shape) == 1
        self.width = shape[0]
        if not self.flat:
            self.width = planes * shape[1] * shape[2]
            self.conv = nn.Conv2d(shape[0], planes, 1, bias=False)
            self.bn = nn.BatchNorm2d(planes)

    def forward(self, trunk: Tensor) -> Tensor:
        return trunk if self.flat else F.relu(self.bn(self.conv(trunk))).flatten(1)

    def fold_batch_norm(self) -> None:
        """Merge the batch normalisation into the convolution, in place."""
        if not self.flat:
            fold(self, "conv", "bn")


class Policy(nn.Module):
    """Logits ``[N, 1352]`` from a trunk output ``[N, *shape]``."""

    reads_input = False

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.neck = Neck(shape, planes=2)
        self.output = nn.Linear(self.neck.width, N_ACTIONS)

    def forward(self, trunk: Tensor) -> Tensor:
        return self.output(self.neck(trunk))

    def fold_batch_norm(self) -> None:
        """See ``Neck.fold_batch_norm``."""
        self.neck.fold_batch_norm()


class OwnPolicy(nn.Module):
    """Logits ``[N, 1352]`` from the network's input ``[N, *shape]`` through layers of its own, of the widths ``hidden``.

    A trunk that was trained for values has never seen dice, and need not learn them for this head.
    """

    reads_input = True

    def __init__(self, shape: tuple[int, ...], hidden: Sequence[int]) -> None:
        super().__init__()
        widths = [prod(shape), *hidden]
        self.layers = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in itertools.pairwise(widths))
        self.output = nn.Linear(widths[-1], N_ACTIONS)

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.output(x)

    def fold_batch_norm(self) -> None:
        """There is none to fold."""


def make_policy(policy: bool | Mapping[str, Any], trunk: tuple[int, ...], inputs: tuple[int, ...]) -> Policy | OwnPolicy | None:
    """The head that ``model.policy`` says: true, one layer over the trunk; ``{hidden: [widths]}``, layers of its own; false, none.

    ``trunk`` and ``inputs``: shapes of a row of the trunk's output and of the network's input. Raises RaccoonError naming the key.
    """
    if isinstance(policy, bool):
        return Policy(trunk) if policy else None
    hidden = policy.get("hidden") if isinstance(policy, Mapping) and set(policy) == {"hidden"} else None
    if not isinstance(hidden, Sequence) or isinstance(hidden, str):
        raise RaccoonError(f"model.policy={quoted(policy)}: give true, false or {{hidden: [widths]}}")
    if not 1 <= len(hidden) <= _MOST_LAYERS:
        raise RaccoonError(f"model.policy.hidden={quoted(list(hidden))}: give one to {_MOST_LAYERS} widths")
    for width in hidden:
        checks.whole("model.policy.hidden", width, least=1)
    return OwnPolicy(inputs, hidden)


def mask_logits(logits: Tensor, mask: Tensor) -> Tensor:
    """``logits [N, 1352]`` with -inf where ``mask bool[N, 1352]`` is False: a softmax gives illegal actions 0.

    Raises RaccoonError for another shape or a row without a legal action.
    """
    if mask.shape != logits.shape:
        raise RaccoonError(f"policy mask of shape {tuple(mask.shape)}: expected {tuple(logits.shape)}")
    mask = mask.to(logits.device, torch.bool)
    if not bool(mask.any(dim=1).all()):
        row = int((~mask.any(dim=1)).nonzero()[0])
        raise RaccoonError(f"policy mask: row {row} has no legal action; a dance still has the pass action")
    return logits.masked_fill(~mask, float("-inf"))

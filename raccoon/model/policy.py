"""Policy head over OpenSpiel's 1352 actions, and the mask that keeps it legal."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from raccoon.contracts import RaccoonError
from raccoon.env.half_moves import N_ACTIONS
from raccoon.model.folding import fold

__all__ = ["Neck", "Policy", "mask_logits"]


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

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.neck = Neck(shape, planes=2)
        self.output = nn.Linear(self.neck.width, N_ACTIONS)

    def forward(self, trunk: Tensor) -> Tensor:
        return self.output(self.neck(trunk))


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

"""Policy head over OpenSpiel's 1352 actions, and the mask that keeps it legal."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from raccoon.contracts import RaccoonError

__all__ = ["ACTIONS", "Policy", "mask_logits", "neck"]

ACTIONS = 1352


def neck(shape: tuple[int, ...], planes: int) -> tuple[nn.Module, int]:
    """Features ``[N, width]`` from a trunk output ``[N, *shape]``, and that width.

    Planes go through a 1x1 convolution to ``planes`` channels, BN and ReLU; flat features pass as they are.
    """
    if len(shape) == 1:
        return nn.Identity(), shape[0]
    channels, rows, columns = shape
    layers = nn.Sequential(nn.Conv2d(channels, planes, 1, bias=False), nn.BatchNorm2d(planes), nn.ReLU(), nn.Flatten())
    return layers, planes * rows * columns


class Policy(nn.Module):
    """Logits ``[N, 1352]`` from a trunk output ``[N, *shape]``."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.neck, width = neck(shape, planes=2)
        self.output = nn.Linear(width, ACTIONS)

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

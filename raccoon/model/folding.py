"""Batch normalisation merged into the convolution before it, for evaluation."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

__all__ = ["fold"]


def fold(owner: nn.Module, conv: str, bn: str) -> None:
    """Replace the submodules ``conv`` and ``bn`` of ``owner`` by one convolution and an identity that give the same.

    Running statistics are used, so ``owner`` must be in evaluation mode. The weights lie channels-last, which CPU
    convolutions like best.
    """
    first, second = owner.get_submodule(conv), owner.get_submodule(bn)
    if not (isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d)):
        return
    fused = fuse_conv_bn_eval(first, second)
    fused.weight.data = fused.weight.data.contiguous(memory_format=torch.channels_last)
    setattr(owner, conv, fused)
    setattr(owner, bn, nn.Identity())

"""Residual trunk on the planes: conv3x3-BN-ReLU, then blocks of conv-BN-ReLU-conv-BN-add-ReLU (He et al. 2015)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model.backbones.base import Backbone
from raccoon.model.folding import fold

__all__ = ["ResNet"]

_MOST_BLOCKS = 1000


def _conv(inputs: int, outputs: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)


class _Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = _conv(channels, channels), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = _conv(channels, channels), nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + x)


class ResNet(Backbone):
    """``blocks`` residual blocks of ``channels`` channels; output ``[N, channels, 2, 12]``."""

    form = "planes"

    def __init__(self, encoder: Encoder, blocks: int, channels: int) -> None:
        super().__init__()
        if not 0 <= blocks <= _MOST_BLOCKS or channels < 1:
            raise RaccoonError(f"model.backbone: blocks={blocks}, channels={channels}; give 0 to {_MOST_BLOCKS} blocks and channels >= 1")
        self.shape = (channels, 2, 12)
        self.conv, self.bn = _conv(encoder.n_channels, channels), nn.BatchNorm2d(channels)
        self.blocks = nn.ModuleList(_Block(channels) for _ in range(blocks))

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        return x

    def fold_batch_norm(self) -> None:
        fold(self, "conv", "bn")
        for block in self.blocks:
            fold(block, "conv1", "bn1")
            fold(block, "conv2", "bn2")

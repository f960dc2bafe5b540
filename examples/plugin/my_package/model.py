"""A dense residual trunk, and a head that splits the outcomes step by step."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from raccoon.env.encoder import Encoder
from raccoon.model.backbones import Backbone
from raccoon.model.heads import ValueHead


class Dense(Backbone):
    """``blocks`` layers x + relu(linear(x)) of the width ``width``."""

    form = "flat"

    def __init__(self, encoder: Encoder, width: int = 256, blocks: int = 4) -> None:
        super().__init__()
        self.shape = (width,)
        self.first = nn.Linear(encoder.flat_size, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.first(x))
        for block in self.blocks:
            x = x + F.relu(block(x))
        return x


class Chain(ValueHead):
    """Five logits: win; gammon if won, backgammon if gammon; gammon if lost, backgammon if gammon."""

    has_probs = True

    def __init__(self, width: int) -> None:
        super().__init__(width, 5)

    def log_probs6(self, raw: Tensor) -> Tensor:
        win, win_g, win_bg, lose_g, lose_bg = F.logsigmoid(raw.float()).unbind(1)
        lose, no_win_g, no_win_bg, no_lose_g, no_lose_bg = F.logsigmoid(-raw.float()).unbind(1)
        won = [win + no_win_g, win + win_g + no_win_bg, win + win_g + win_bg]
        return torch.stack([*won, lose + no_lose_g, lose + lose_g + no_lose_bg, lose + lose_g + lose_bg], dim=1)

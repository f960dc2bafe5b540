"""Value head with six logits over win, gammon and backgammon won, then lost."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from raccoon.contracts import OUTCOME_POINTS
from raccoon.model.heads.base import ValueHead

__all__ = ["Outcomes6"]


class Outcomes6(ValueHead):
    """Softmax over the exclusive outcomes; equity is its expected points / 3."""

    has_probs = True
    points: Tensor

    def __init__(self, width: int) -> None:
        super().__init__(width, 6)
        self.register_buffer("points", torch.from_numpy(OUTCOME_POINTS).float() / 3, persistent=False)

    def equity(self, raw: Tensor) -> Tensor:
        # Element-wise product and sum: a matrix-vector product may round differently with the number of rows.
        return (raw.float().softmax(dim=1) * self.points).sum(dim=1)

    def log_probs6(self, raw: Tensor) -> Tensor:
        return F.log_softmax(raw.float(), dim=1)

"""Value head with six logits over win, gammon and backgammon won, then lost."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from raccoon.model.heads.base import ValueHead

__all__ = ["Outcomes6"]


class Outcomes6(ValueHead):
    """Softmax over the exclusive outcomes; equity is its expected points / 3."""

    has_probs = True

    def __init__(self, width: int) -> None:
        super().__init__(width, 6)

    def equity(self, raw: Tensor) -> Tensor:
        # Element-wise product and sum: a matrix-vector product may round differently with the number of rows.
        return (raw.float().softmax(dim=1) * self.points).sum(dim=1)

    def log_probs6(self, raw: Tensor) -> Tensor:
        return F.log_softmax(raw.float(), dim=1)

"""What the network asks of a value head: one linear map and its readings as equity and, perhaps, outcome distribution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from raccoon.contracts import OUTCOME_POINTS, RaccoonError

__all__ = ["ValueHead"]


class ValueHead(nn.Module):
    """Base of all value heads: ``output`` maps features ``[N, width]`` to raw numbers ``[N, size]``.

    ``has_probs`` says whether the raw numbers hold an outcome distribution. ``points float32[6]``: what each outcome is worth, / 3.
    """

    has_probs: bool = False
    points: Tensor

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.output = nn.Linear(width, size)
        self.register_buffer("points", torch.from_numpy(OUTCOME_POINTS).float() / 3, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Raw numbers ``[N, size]``."""
        return self.output(features)

    def equity(self, raw: Tensor) -> Tensor:
        """``[N]`` money equity / 3 to the side on roll; by default the expectation over ``log_probs6``."""
        return (self.log_probs6(raw).exp() * self.points).sum(dim=1)

    def log_probs6(self, raw: Tensor) -> Tensor:
        """``[N, 6]`` log of the outcome distribution. Raises RaccoonError when the head has none."""
        raise RaccoonError(f"the value head {type(self).__name__} knows no outcome distribution: use model/head=outcomes6")

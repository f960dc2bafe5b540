"""What the network asks of a value head: one linear map and its readings as equity and, perhaps, outcome distribution."""

from __future__ import annotations

from torch import Tensor, nn

from raccoon.contracts import RaccoonError

__all__ = ["ValueHead"]


class ValueHead(nn.Module):
    """Base of all value heads: ``output`` maps features ``[N, width]`` to raw numbers ``[N, size]``.

    ``has_probs`` says whether the raw numbers hold an outcome distribution.
    """

    has_probs: bool = False

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.output = nn.Linear(width, size)

    def forward(self, features: Tensor) -> Tensor:
        """Raw numbers ``[N, size]``."""
        return self.output(features)

    def equity(self, raw: Tensor) -> Tensor:
        """``[N]`` money equity / 3 to the side on roll."""
        raise TypeError(f"{type(self).__name__} does not define equity")

    def log_probs6(self, raw: Tensor) -> Tensor:
        """``[N, 6]`` log of the outcome distribution. Raises RaccoonError when the head has none."""
        raise RaccoonError(f"the value head {type(self).__name__} knows no outcome distribution: use model/head=outcomes6")

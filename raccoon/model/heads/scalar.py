"""Value head with one number: equity / 3 through a tanh."""

from __future__ import annotations

from torch import Tensor

from raccoon.model.heads.base import ValueHead

__all__ = ["Scalar"]


class Scalar(ValueHead):
    """A single tanh output; trained with squared error."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Raw numbers ``[N, 1]``, row by row: kernels for a matrix and one vector cut the rows up by threads, in other bits."""
        return (features * self.output.weight).sum(dim=1, keepdim=True) + self.output.bias

    def equity(self, raw: Tensor) -> Tensor:
        return raw.float().squeeze(1).tanh()

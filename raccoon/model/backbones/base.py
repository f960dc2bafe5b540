"""What the network asks of a backbone: the common trunk under the value and policy heads."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

__all__ = ["Backbone"]


class Backbone(nn.Module):
    """Base of all trunks. A subclass takes the encoder first and sets the two attributes before the first forward pass.

    ``form``: the input it reads, ``"planes"`` (``float32[N, C, 2, 12]``) or ``"flat"`` (``float32[N, F]``).
    ``shape``: the shape of one row of its output, ``(width,)`` or ``(channels, 2, 12)``.
    """

    form: Literal["planes", "flat"]
    shape: tuple[int, ...]

    def forward(self, x: Tensor) -> Tensor:
        """``[N, *shape]`` from the input of ``form``."""
        raise TypeError(f"{type(self).__name__} does not define forward")

    def fold_batch_norm(self) -> None:
        """Merge batch normalisation into the weights before it, in place; called on a copy in evaluation mode.

        The output stays the same up to rounding. A trunk without batch normalisation has nothing to do.
        """

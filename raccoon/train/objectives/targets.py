"""Training targets as pure tensor functions. No Lightning here."""

from __future__ import annotations

import torch
from torch import Tensor

from raccoon.contracts import OUTCOME_POINTS

__all__ = ["VALUE_TO_POINTS", "equity_value"]

VALUE_TO_POINTS = 3.0
"""Points of one unit of the value scale."""

_OUTCOME_VALUES = tuple(float(points) / VALUE_TO_POINTS for points in OUTCOME_POINTS)


def equity_value(probs6: Tensor) -> Tensor:
    """``float[N]``: equity / 3 of outcome distributions ``probs6 float[N, 6]``, both to the side on roll."""
    return probs6 @ torch.tensor(_OUTCOME_VALUES, dtype=probs6.dtype, device=probs6.device)

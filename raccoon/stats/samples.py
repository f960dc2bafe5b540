"""The samples that figures are made of: checked, and the level of their intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import RaccoonError

__all__ = ["LEVEL", "pair", "positive", "vector"]

LEVEL = 0.95


def vector(x: ArrayLike, name: str) -> NDArray[np.float64]:
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise RaccoonError(f"{name} of shape {values.shape}: give a vector of at least one observation")
    return values


def pair(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = vector(a, "first sample"), vector(b, "second sample")
    if len(first) != len(second):
        raise RaccoonError(f"paired samples of {len(first)} and {len(second)} observations: both must describe the same ones")
    return first, second


def positive(**named: float) -> None:
    for name, value in named.items():
        if not value > 0:
            raise RaccoonError(f"{name}={value}: must be above 0")

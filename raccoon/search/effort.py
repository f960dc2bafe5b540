"""How much of a search a decision is worth: a curve over contact, which the filter of candidates reads."""

# What configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.env.encoder import FEATURE_GROUPS, encode

__all__ = ["Effort", "contact", "effort_of"]

_ADVICE = "give two or more points [contact in pips, effort from 0 to 1], contact rising, such as [[0, 0], [80, 1]], or null"


@dataclass(frozen=True)
class Effort:
    """Points (contact in pips, effort 0 to 1) of a curve: straight between them, level before the first and after the last."""

    contact: tuple[float, ...]
    effort: tuple[float, ...]

    def of(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]`` from 0 to 1, of pre-roll ``boards int8[N, 2, 25]``."""
        return np.interp(contact(boards), self.contact, self.effort)

    def between(self, least: float, most: float, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]``: ``least`` at effort 0, ``most`` at effort 1, in proportion between them."""
        return least + (most - least) * self.of(boards)

    def __str__(self) -> str:
        return "_".join(f"{pips:g}-{effort:g}" for pips, effort in zip(self.contact, self.effort, strict=True))


def effort_of(key: str, points: Sequence[Sequence[float]]) -> Effort:
    """The curve through ``points``, pairs (pips, effort). Raises RaccoonError naming ``key``."""
    if not isinstance(points, Sequence) or isinstance(points, str) or len(points) < 2:
        raise RaccoonError(f"{key}={quoted(points)}: {_ADVICE}")
    if any(not isinstance(point, Sequence) or isinstance(point, str) or len(point) != 2 for point in points):
        raise RaccoonError(f"{key}={quoted(points)}: {_ADVICE}")
    pips = [number(f"{key}[{index}][0]", point[0], "pips, 0 or more") for index, point in enumerate(points)]
    effort = [number(f"{key}[{index}][1]", point[1], "an effort from 0 to 1", most=1.0) for index, point in enumerate(points)]
    if any(after <= before for before, after in pairwise(pips)):
        raise RaccoonError(f"{key}={quoted(points)}: {_ADVICE}")
    return Effort(tuple(pips), tuple(effort))


def contact(boards: Boards) -> NDArray[np.float64]:
    """``float64[N]``: contact in pips, the mean of the two sides' (167 before the first roll, 0 in a race)."""
    return encode(boards, channels=FEATURE_GROUPS["contact"], normalize=False)[:, :, 0, 0].mean(axis=1, dtype=np.float64)

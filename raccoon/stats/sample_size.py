"""How many games show a difference."""

from __future__ import annotations

import math

from scipy import special

from raccoon.contracts import RaccoonError
from raccoon.stats.samples import LEVEL, positive

__all__ = ["games_equivalent", "games_needed", "power"]


def power(n: int, sd: float, effect: float, level: float = LEVEL) -> float:
    """Chance that a two-sided z test of ``n`` observations of the given SD finds a true mean of ``effect``."""
    positive(n=n, sd=sd)
    shift = abs(effect) * math.sqrt(n) / sd
    critical = float(special.ndtri(0.5 + level / 2))
    return float(special.ndtr(shift - critical) + special.ndtr(-shift - critical))


def games_needed(sd: float, effect: float, wanted: float = 0.8, level: float = LEVEL) -> int:
    """Fewest observations with which a true mean of ``effect`` is found with probability ``wanted``."""
    positive(sd=sd, effect=abs(effect))
    if not (1 - level) < wanted < 1:
        raise RaccoonError(f"wanted={wanted}: a power between {1 - level:.2g} and 1")
    guess = max(1, math.ceil(((special.ndtri(0.5 + level / 2) + special.ndtri(wanted)) * sd / abs(effect)) ** 2))
    while guess > 1 and power(guess - 1, sd, effect, level) >= wanted:
        guess -= 1
    while power(guess, sd, effect, level) < wanted:
        guess += 1
    return guess


def games_equivalent(sd_ratio: float) -> float:
    """How many raw games one variance-reduced game is worth."""
    return sd_ratio**2

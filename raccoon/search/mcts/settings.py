"""How trees grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from raccoon.checks import number, quoted, whole
from raccoon.contracts import RaccoonError
from raccoon.search.mcts.expand import Prior
from raccoon.search.mcts.walk import DEALT, ENUMERATED, SAMPLED

__all__ = ["CHANCE_MODES", "Chance", "Settings"]

Chance = Literal["sampled", "stratified", "enumerated"]
CHANCE_MODES: dict[Chance, int] = {"sampled": SAMPLED, "stratified": DEALT, "enumerated": ENUMERATED}


@dataclass
class Settings:
    """See ``raccoon.search.MCTS``, which has these among its own. Raises RaccoonError naming a key of ``search.`` that cannot be."""

    simulations: int
    leaves: int
    c_puct: float
    virtual_loss: float
    chance: Chance
    prior: Prior | None
    prior_temperature: float
    noise: float
    noise_alpha: float
    policy_temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.chance not in CHANCE_MODES:
            raise RaccoonError(f"search.chance={quoted(self.chance)}: choose {', '.join(CHANCE_MODES)}")
        if self.prior not in (None, "policy", "value", "uniform"):
            raise RaccoonError(f"search.prior={quoted(self.prior)}: choose policy, value, uniform or null")
        for key in ("simulations", "leaves"):
            setattr(self, key, whole(f"search.{key}", getattr(self, key), 1))
        for key in ("c_puct", "prior_temperature", "noise_alpha", "policy_temperature"):
            setattr(self, key, number(f"search.{key}", getattr(self, key), "a number above 0", above=True))
        self.virtual_loss = number("search.virtual_loss", self.virtual_loss, "a number, 0 or more")
        self.noise = number("search.noise", self.noise, "a share from 0 to 1", most=1.0)

"""Two engines as one: an exact one where it knows the position, another everywhere else."""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, Engine, KnowingEngine, RaccoonError
from raccoon.engine.base import EngineBase, inner_policy, policy_engine

__all__ = ["CompositeEngine"]


class CompositeEngine(EngineBase):
    """``exact`` where ``exact.knows``, ``rest`` elsewhere. It has outcome probabilities when both have, and the policy of ``rest``."""

    def __init__(self, exact: Engine, rest: Engine, name: str | None = None) -> None:
        for role, engine in (("exact", exact), ("rest", rest)):
            if not isinstance(engine, Engine):
                raise RaccoonError(f"engine.{role}={quoted(engine)}: not an engine (value, probs6, name, has_probs, evaluations)")
        if not isinstance(exact, KnowingEngine):
            raise RaccoonError(f"engine.exact={exact.name}: it has no knows(boards); use an engine such as bearoff")
        super().__init__(name or f"{rest.name}+{exact.name}")
        self.exact = exact
        self.rest = rest
        self.has_probs = exact.has_probs and rest.has_probs
        self.has_policy = policy_engine(rest) is not None

    def knows(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: does ``exact`` value the board? A search does not look below such boards."""
        return self.exact.knows(boards)

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """``float32[N, 1352]``: what ``rest`` would play, known positions included; see ``NetEngine.policy``. Raises RaccoonError
        when it has no policy head."""
        return inner_policy(self, self.rest, boards, dice, mid_doubles)

    def _value(self, live: Boards) -> NDArray[np.floating]:
        known = self.exact.knows(live)
        values = np.empty(len(live), np.float32)
        values[known] = self.exact.value(live[known])
        values[~known] = self.rest.value(live[~known])
        return values

    def _probs6(self, live: Boards) -> NDArray[np.floating]:
        known = self.exact.knows(live)
        probs = np.empty((len(live), 6), np.float32)
        probs[known] = self.exact.probs6(live[known])
        probs[~known] = self.rest.probs6(live[~known])
        return probs

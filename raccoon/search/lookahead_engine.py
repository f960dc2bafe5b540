"""Another engine's values with whole plies of lookahead below every position, as an engine: the teacher of exact backups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted, whole
from raccoon.contracts import Boards, Engine, RaccoonError
from raccoon.engine.base import EngineBase, inner_policy, policy_engine
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.mixture import MixtureEngine
from raccoon.env.lookup import unique_boards
from raccoon.search.tree import Tree

__all__ = ["LookaheadEngine"]

_DEEPEST = 3


class LookaheadEngine(EngineBase):
    """Values and outcome probabilities of ``engine`` backed up over all 21 rolls and greedy replies, ``ply`` times; its policy as it is.

    ``prune`` is an engine that shortlists the ``shortlist`` best replies to each roll (null: ``engine`` values all of them, some
    400 boards a position at 1-ply). Equal boards are searched once. Raises RaccoonError for a ply that is not 1 to 3,
    and where ``engine`` or ``prune`` looks ahead in this way, too, alone or as a part of another engine.
    """

    def __init__(self, engine: Engine, ply: int = 1, prune: Engine | None = None, shortlist: int = 5, name: str | None = None) -> None:
        self.ply = whole("engine.ply", ply, 1)
        if ply > _DEEPEST:
            raise RaccoonError(f"engine.ply={quoted(ply)}: give 1 to {_DEEPEST}; every ply takes some hundred times as long")
        for key, below in (("engine", engine), ("prune", prune)):
            if _looks_ahead(below):
                raise RaccoonError(
                    f"engine.{key}: it looks ahead, too, and the times multiply; give its own engine, and the depth as engine.ply"
                )
        super().__init__(name or f"{engine.name}-{ply}ply" + ("-pruned" if prune is not None else ""))
        self.has_probs, self.has_policy = engine.has_probs, policy_engine(engine) is not None
        self.tree = Tree(engine, prune=prune, shortlist=whole("engine.shortlist", shortlist, 1))

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """``float32[N, 1352]``: that of ``engine``; see ``NetEngine.policy``. Raises RaccoonError when it has no policy head."""
        return inner_policy(self, self.tree.engine, boards, dice, mid_doubles)

    def _value(self, live: Boards) -> NDArray[np.float64]:
        first, inverse = unique_boards(live)
        return self.tree.values(live[first], self.ply)[inverse]

    def _probs6(self, live: Boards) -> NDArray[np.float64]:
        first, inverse = unique_boards(live)
        return self.tree.chances(live[first], self.ply)[inverse]


def _looks_ahead(engine: Engine | None) -> bool:
    """Whether ``engine``, or a part of a composite or a mixture, is a LookaheadEngine."""
    if isinstance(engine, CompositeEngine):
        return _looks_ahead(engine.exact) or _looks_ahead(engine.rest)
    if isinstance(engine, MixtureEngine):
        return any(_looks_ahead(part) for part, _ in engine.parts)
    return isinstance(engine, LookaheadEngine)

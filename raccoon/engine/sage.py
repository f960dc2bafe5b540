"""Open Sage (``bgsage``) as an engine: the referee's evaluator at its N-ply levels, cubeless.

Levels are Sage's own: 1P is its plain network (GNUBG's 0-ply), 2P one ply of lookahead, and so on. Weights and the
one-sided bear-off database come with the package, so nothing is fetched. One thread: workers are processes here.
"""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase
from raccoon.engine.outcomes import flip, six_from_five
from raccoon.env.formats.board26 import to_board26

__all__ = ["FILTER_MOVES", "FILTER_POINTS", "LEVELS", "SageEngine", "sage_module", "sage_strategy"]

LEVELS = {"1P": 1, "2P": 2, "3P": 3, "4P": 4}
FILTER_MOVES, FILTER_POINTS = 5, 0.08
"""Sage's default move filter: most candidates, and points below the best."""


class SageEngine(EngineBase):
    """Sage's cubeless outcome probabilities at ``level`` 1P, 2P, 3P or 4P, with its default move filter.

    A position's value does not depend on the batch it comes in. Raises RaccoonError for another level or when
    ``bgsage`` is not installed.
    """

    def __init__(self, level: str = "1P", name: str | None = None) -> None:
        if level not in LEVELS:
            raise RaccoonError(f"engine.level={quoted(level)}: Sage has {', '.join(LEVELS)} (1P is GNUBG's 0-ply)")
        super().__init__(name or f"sage{LEVELS[level]}")
        self.level = level
        self._sage = sage_module()
        self._strategy, self._table = sage_strategy(self._sage, LEVELS[level])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.level, self.name)

    def _probs6(self, live: Boards) -> NDArray[np.float64]:
        owner = self._sage.CubeOwner.CENTERED
        # Sage evaluates for the side that has just moved, which is the one in slot 0
        positions = [(board, owner) for board in to_board26(live[:, ::-1]).tolist()]
        answers = self._sage.batch_evaluate_post_move(positions, self._strategy, 1, jacoby=False)
        if LEVELS[self.level] > 1:
            self._strategy.clear_cache()
        moved = six_from_five(np.array([answer["probs"] for answer in answers], np.float64))
        return flip(moved)


def sage_module() -> ModuleType:
    """Sage's native module. Raises RaccoonError, saying what to install, when a part of the package is missing."""
    try:
        import bgbot_cpp

        importlib.import_module("bgsage")  # checked here so that a missing half is reported as one thing
    except ImportError as error:
        raise RaccoonError(f"engine=sage: Python package bgsage cannot be imported ({error}); pip install bgsage") from error
    return bgbot_cpp


def sage_strategy(sage: ModuleType, plies: int) -> tuple[Any, Any]:
    """Strategy of a level as Sage's own analyzer sets it up, and the bear-off table that it refers to."""
    from bgsage.weights import bearoff_db_path, default_weights

    weights: Any = default_weights()
    net = (weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list)
    path = bearoff_db_path()
    table = sage.BearoffDB()
    if path is None or not table.load(path):
        raise RaccoonError("engine=sage: the bear-off database of bgsage is missing or broken; reinstall bgsage")
    if plies == 1:
        return sage.BearoffStrategy(sage.create_strategy(*net), table), table
    strategy = sage.create_multipy(*net, plies, FILTER_MOVES, FILTER_POINTS, parallel_evaluate=False, parallel_threads=1)
    sage.multipy_set_bearoff_db(strategy, table)
    return strategy, table

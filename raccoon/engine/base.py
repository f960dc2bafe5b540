"""What every engine shares: input checks, exact finished games, one counter, both output forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import OUTCOME_POINTS, Boards, Engine, PolicyEngine, RaccoonError
from raccoon.engine.outcomes import exact_probs6
from raccoon.env import board as rules

__all__ = ["EngineBase", "checked", "inner_policy", "policy_engine"]

T = TypeVar("T", bound=NDArray[np.floating])


class EngineBase:
    """Implements ``Engine`` for subclasses, which see live, validated ``int8[L, 2, 25]`` boards only (L >= 1).

    A subclass sets ``has_probs`` and overrides ``_probs6`` (float[L, 6]) when it is true, else ``_value``
    (float[L], equity / 3 to the side on roll). An engine whose value is no function of its ``_probs6`` may override both.
    """

    has_probs: bool = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.evaluations = 0

    def value(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N]``: equity / 3 of pre-roll ``boards`` to the side on roll; finished boards are exact."""
        return self._filled(boards, lambda points: (points / 3.0).astype(np.float32), self._value)

    def points(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]``: money points at cube 1 to the side on roll; finished boards are exactly -1, -2 or -3."""
        return self._filled(boards, lambda points: points.astype(np.float64), self._points)

    def probs6(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N, 6]``: win, win_g, win_bg, lose, lose_g, lose_bg (exclusive) of the side on roll.

        Raises RaccoonError when the engine only knows a scalar value.
        """
        if not self.has_probs:
            raise RaccoonError(f"engine {self.name} knows no outcome probabilities; use one that does (a net with model/head=outcomes6)")
        return self._filled(boards, exact_probs6, self._probs6)

    def _filled(self, boards: Boards, exact: Callable[[NDArray[np.int8]], T], ask: Callable[[Boards], NDArray[np.floating]]) -> T:
        """``exact`` of the points of all boards (0 while a game goes on), with what ``ask`` says of the live ones in their rows."""
        boards = checked(boards)
        points = rules.terminal_points(boards)
        out = exact(points)
        live = np.flatnonzero(points == 0)
        if live.size:
            self.evaluations += live.size
            out[live] = ask(boards[live])
        return out

    def _probs6(self, live: Boards) -> NDArray[np.floating]:
        raise RaccoonError(f"engine {self.name} has has_probs=True but does not define _probs6")

    def _value(self, live: Boards) -> NDArray[np.floating]:
        """Value scale; by default the expectation of ``_probs6``."""
        return self._probs6(live).astype(np.float64) @ OUTCOME_POINTS / 3.0

    def _points(self, live: Boards) -> NDArray[np.floating]:
        """Points scale, at the engine's own precision; by default three times ``_value``."""
        return 3.0 * np.asarray(self._value(live), np.float64)


def inner_policy(
    outer: EngineBase, inner: Engine, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_] | None
) -> NDArray[np.float32]:
    """``float32[N, 1352]``: the policy of ``inner``, a part of ``outer``, which counts the boards. Raises RaccoonError when it has none."""
    policy = policy_engine(inner)
    if policy is None:
        raise RaccoonError(f"engine {outer.name}: {inner.name} has no policy head; use a network that has one")
    outer.evaluations += len(boards)
    return policy.policy(boards, dice, mid_doubles)


def policy_engine(engine: Engine) -> PolicyEngine | None:
    """``engine`` where it has a policy, else None."""
    return engine if isinstance(engine, PolicyEngine) and engine.has_policy else None


def checked(boards: Boards) -> Boards:
    """``boards`` as contiguous, legal ``int8[N, 2, 25]``; RaccoonError names the fault and, where there is one, the row."""
    boards = rules.as_boards(boards)
    rules.check(boards)
    return boards

"""Whole games as sequences of pre-roll states. An observer of the match runner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Step, Turns

__all__ = ["EpisodeRecorder", "Episodes"]


@dataclass(frozen=True)
class Episodes:
    """Games laid end to end, each by its pre-roll states in order and, last, the board after its final play.

    ``boards int8[N, 2, 25]``, the side on roll in slot 1: from one row of a game to the next the sides change. Game ``i``,
    number ``games[i]``, owns the rows ``offsets[i]:offsets[i + 1]``, of which there are at least two. Its last row is a
    finished game, or one that the turn cap has stopped. ``turn int64[N]``: rolls before the row. ``values float64[N]``: where a tree
    search chose the plays, its value of the row with the dice that were thrown (value scale, side on roll), NaN in last rows.
    """

    boards: Boards
    turn: NDArray[np.int64]
    games: NDArray[np.int64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64] | None = None

    @property
    def rolled(self) -> NDArray[np.bool_]:
        """``bool[N]``: rows at which the dice were thrown: all but the last of each game."""
        rolled = np.ones(len(self.boards), bool)
        rolled[self.offsets[1:] - 1] = False
        return rolled


class EpisodeRecorder:
    """Keeps all states of all games; money games only."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int64], Boards]] = []
        self._last: tuple[NDArray[np.int64], NDArray[np.int64], Boards] | None = None

    def rolled(self, step: Step) -> None:
        """Keep the states on roll."""
        self._parts.append((step.games.copy(), step.roll.copy(), step.boards.copy()))

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Remember the afterstates, some of which may be final."""
        self._last = (step.games, step.roll + 1, turns.children[turns.offsets[:-1] + chosen])

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Keep the final boards of ``games``."""
        if self._last is None:
            return
        rows = np.flatnonzero(np.isin(self._last[0], games))
        self._parts.append((self._last[0][rows], self._last[1][rows], self._last[2][rows]))

    def episodes(self) -> Episodes:
        """The games that were recorded, by number."""
        if not self._parts:
            return Episodes(np.zeros((0, 2, 25), np.int8), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64))
        games, turn, boards = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        order = np.lexsort((turn, games))
        numbers, starts = np.unique(games[order], return_index=True)
        return Episodes(boards[order], turn[order], numbers, np.append(starts, len(order)))

"""Keeps the pre-roll positions of games, and some that the games did not take. An observer of the match runner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine, Step, Turns
from raccoon.data.label_sets.rows import SELFPLAY, SIBLING
from raccoon.env import ragged
from raccoon.env.board import terminal_points
from raccoon.env.lookup import unique_boards
from raccoon.rng import hash64, uniform

__all__ = ["PositionRecorder", "Positions"]


@dataclass(frozen=True)
class Positions:
    """Distinct unfinished pre-roll ``boards int8[N, 2, 25]``, ``game int64[N]``, ``turn int64[N]``, ``provenance uint8[N]``."""

    boards: Boards
    game: NDArray[np.int64]
    turn: NDArray[np.int64]
    provenance: NDArray[np.uint8]


class PositionRecorder:
    """Records every position on roll and, after each turn, ``siblings`` other results of it on average.

    They are chosen at random, or are the best ones by the static value of ``rank``. A turn with fewer other plays gives fewer. The
    choice follows from (seed, game, roll) alone.
    """

    def __init__(self, siblings: float, seed: int, rank: Engine | None = None) -> None:
        self.siblings = siblings
        self.seed = seed
        self.rank = rank
        self._parts: list[Positions] = []

    def rolled(self, step: Step) -> None:
        """Keep the positions on roll."""
        self._add(step.boards, step.games, step.roll, SELFPLAY)

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Keep some of the afterstates that were not chosen."""
        others = np.diff(turns.offsets) - 1
        order = None if self.rank is None else _best_first(turns, chosen, self.rank)
        for k in range(int(np.ceil(self.siblings))):
            wanted = uniform(hash64(self.seed, "sibling", step.games, step.roll, k)) < self.siblings - k
            rows = np.flatnonzero(wanted & (others > (0 if order is None else k)))
            if order is None:
                draw = hash64(self.seed, "sibling play", step.games[rows], step.roll[rows], k)
                pick = (draw % others[rows].astype(np.uint64)).astype(np.int64)
                pick += pick >= chosen[rows]
                children = turns.offsets[rows] + pick
            else:
                children = order[turns.offsets[rows] + k]
            self._add(turns.children[children], step.games[rows], step.roll[rows] + 1, SIBLING)

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing to keep: results are no labels here."""

    def collect(self) -> Positions:
        """What was recorded, by game, turn and provenance; of equal positions the first one, without finished games."""
        boards = np.concatenate([part.boards for part in self._parts])
        game = np.concatenate([part.game for part in self._parts])
        turn = np.concatenate([part.turn for part in self._parts])
        provenance = np.concatenate([part.provenance for part in self._parts])
        order = np.lexsort((provenance, turn, game))
        order = order[terminal_points(boards[order]) == 0]
        order = order[np.sort(unique_boards(boards[order])[0])]
        return Positions(boards[order], game[order], turn[order], provenance[order])

    def _add(self, boards: Boards, games: NDArray[np.int64], turn: NDArray[np.int64], provenance: int) -> None:
        self._parts.append(Positions(boards.copy(), games.copy(), turn.copy(), np.full(len(boards), provenance, np.uint8)))


def _best_first(turns: Turns, chosen: NDArray[np.int64], rank: Engine) -> NDArray[np.int64]:
    """``int64[M]``: the children of each row by value to the mover, the best first, and the chosen one last."""
    values = -np.asarray(rank.value(turns.children), np.float64)
    values[turns.offsets[:-1] + chosen] = -np.inf
    return ragged.best_first(values, turns.offsets)

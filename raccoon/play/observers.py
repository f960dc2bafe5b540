"""Observers of general use. An observer watches the match runner and never changes a game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Offer, Step, Turns
from raccoon.env.lookup import Lookup
from raccoon.progress import advance

__all__ = ["DoubleCounter", "Progress", "Record", "Recorder"]


@dataclass(frozen=True)
class Record:
    """The rolls of one game in order: ``mover int8[T]``, ``boards int8[T, 2, 25]`` before the play, ``dice int8[T, 2]``,
    ``cubes`` at the roll, ``after int8[T, 2, 25]`` afterstates."""

    game: int
    mover: NDArray[np.int8]
    boards: Boards
    dice: NDArray[np.int8]
    cubes: Cubes
    after: Boards


class Recorder:
    """Keeps every roll and play of every game in memory."""

    def __init__(self) -> None:
        self._steps: list[tuple[Step, Boards]] = []

    def rolled(self, step: Step) -> None:
        """Nothing: rolls are kept with their plays."""

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Keep the step and the afterstates."""
        self._steps.append((step, turns.children[turns.offsets[:-1] + chosen]))

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing."""

    def records(self) -> Iterator[Record]:
        """The games by index, each with its rolls in order."""
        if not self._steps:
            return
        steps = [step for step, _ in self._steps]
        games = np.concatenate([step.games for step in steps])
        keys = (np.concatenate([getattr(step, name) for step in steps]) for name in ("roll", "number"))
        order = np.lexsort((*keys, games))
        parts = ([s.mover for s in steps], [s.boards for s in steps], [s.dice for s in steps], [after for _, after in self._steps])
        mover, boards, dice, after = (np.concatenate(part)[order] for part in parts)
        cubes = Cubes.joined([s.cubes for s in steps]).take(order)
        found, starts = np.unique(games[order], return_index=True)
        for game, rows in zip(found, np.split(np.arange(len(order)), starts[1:]), strict=True):
            yield Record(int(game), mover[rows], boards[rows], dice[rows], cubes.take(rows), after[rows])


class DoubleCounter:
    """Counts doubles in each of ``games int64[G]``: ``counts int64[G, 2, 3]``, by player: offered, of them taken, beavered."""

    def __init__(self, games: NDArray[np.int64]) -> None:
        self._place = Lookup(games)
        self.counts = np.zeros((len(games), 2, 3), np.int64)

    def doubled(self, offer: Offer) -> None:
        """Count these."""
        rows = self._place.find(offer.games)
        self.counts[rows, offer.mover] += np.stack([np.ones(len(rows), np.int64), offer.took, offer.beavered], axis=1)

    def rolled(self, step: Step) -> None:
        """Nothing."""

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Nothing."""

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing."""


class Progress:
    """Tells the progress of each game (match) that is over."""

    def rolled(self, step: Step) -> None:
        """Nothing."""

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Nothing."""

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """So many more."""
        advance(len(games))

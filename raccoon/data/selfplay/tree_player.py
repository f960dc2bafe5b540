"""A player that chooses by Monte Carlo tree search and keeps what it found: decisions for a policy head, root values for the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Engine, RaccoonError, Step, Turns
from raccoon.data.label_sets.policy_rows import DECISION_ROW, pack_policies, unlabelled
from raccoon.data.label_sets.rows import SELFPLAY, pack
from raccoon.data.selfplay.episodes import EpisodeRecorder, Episodes
from raccoon.engine.outcomes import five_from_six
from raccoon.rng import hash64
from raccoon.search.mcts.roots import Roots
from raccoon.search.mcts.search import MCTS

__all__ = ["TreePlayer"]


class TreePlayer(EpisodeRecorder):
    """Player of both sides and observer of the same games; money games without a cube.

    Plays are drawn by visits at ``search.temperature`` in the first ``turns`` rolls of a game, counted over both sides, and at
    ``late`` from then on. Rolls in the trees, noise and draws follow from (``seed``, game, roll), whatever else is played.
    """

    name = "tree"

    def __init__(self, engine: Engine, search: MCTS, seed: int, turns: int, late: float) -> None:
        super().__init__()
        self.engine, self.search, self.seed, self.turns, self.late = engine, search, seed, turns, late
        self._step: Step | None = None
        self._decisions: list[tuple[NDArray[np.void], NDArray[np.int64]]] = []
        self._values: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []

    def rolled(self, step: Step) -> None:
        """Keep the states on roll, and whose turn in which game is about to be chosen."""
        super().rolled(step)
        self._step = step

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """See ``Player.choose``. Raises RaccoonError when somebody else plays in the games or nothing says which they are."""
        step = self._step
        if step is None or len(step.games) != len(turns):
            raise RaccoonError("player tree: it plays both sides and observes its games; give it as both players and as observer")
        temperatures = np.where(step.roll < self.turns, self.search.temperature, self.late)
        played = self.search.play(turns, self.engine, hash64(self.seed, "tree play", step.games, step.roll), temperatures)
        self._keep(played.first, step.games, step.roll)
        self._values.append((step.games.copy(), step.roll.copy(), played.first.value))
        if played.second is not None:
            self._keep(played.second, step.games[played.rows], step.roll[played.rows])
        return played.chosen

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """Never: there is no cube."""
        return np.zeros(len(boards), bool)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """Always."""
        return np.ones(len(boards), bool)

    def episodes(self) -> Episodes:
        """The games by number, with the value of each root."""
        found = super().episodes()
        values = np.full(len(found.boards), np.nan)
        if self._values:
            games, roll, root = (np.concatenate(part) for part in zip(*self._values, strict=True))
            values[found.rolled] = root[np.lexsort((roll, games))]
        return replace(found, values=values)

    def decisions(self, episodes: Episodes, targets: NDArray[np.float64]) -> NDArray[np.void]:
        """``DECISION_ROW[n]`` of every decision by game, roll and half, with ``targets float64[N, 6]`` of the rows of ``episodes``."""
        if not self._decisions:
            return np.empty(0, DECISION_ROW)
        policies, roll = (np.concatenate(part) for part in zip(*self._decisions, strict=True))
        policies = policies[np.lexsort((policies["mid"], roll, policies["game"]))]
        rows = unlabelled(policies)
        rolled = episodes.rolled  # one decision each, second halves apart, in the same order
        turn = episodes.turn[rolled]
        labels = pack(episodes.boards[rolled], five_from_six(targets[rolled]), np.zeros_like(turn), turn, SELFPLAY)
        rows["probs"][rows["mid"] == 0] = labels["probs"]
        return rows

    def _keep(self, roots: Roots, games: NDArray[Any], roll: NDArray[np.int64]) -> None:
        packed = pack_policies(roots.boards, roots.dice, roots.mid, games, roots.offsets, roots.ids, roots.policy())
        self._decisions.append((packed, roll.copy()))

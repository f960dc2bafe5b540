"""Many trees grown side by side: every step sends simulations down all of them and asks the engine once for all their leaves."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from raccoon.contracts import Boards, CubeModel, Cubes, Engine, KnowingEngine
from raccoon.env import ragged
from raccoon.env.board import terminal_points
from raccoon.env.half_moves import low_first
from raccoon.rng import hash64, uniform
from raccoon.search.lookahead import enumerate_leaves, leaf_values
from raccoon.search.mcts.expand import Prior, Values, expand
from raccoon.search.mcts.live_cube import LiveCube
from raccoon.search.mcts.nodes import CHANCE, DECISION, EXACT, VALUED, Simulations, empty, grown
from raccoon.search.mcts.settings import CHANCE_MODES, Settings
from raccoon.search.mcts.walk import backup, descend

__all__ = ["Forest", "Starts"]


class Starts(NamedTuple):
    """Where T trees begin: ``boards int8[T, 2, 25]`` of unfinished games, ``dice int8[T, 2]`` and ``mid bool[T]`` (the first half of
    a double has been played), or boards before the roll where ``dice`` is None. ``keys uint64[T]``: the randomness of each tree (rolls,
    noise), so that no tree depends on another. ``cubes``: seen from the side that acts; None: no cube is in play."""

    boards: Boards
    dice: NDArray[np.int8] | None
    mid: NDArray[np.bool_]
    keys: NDArray[np.uint64]
    cubes: Cubes | None = None

    def parts(self, size: int) -> Iterator[tuple[slice, Starts]]:
        """``size`` trees at a time, and which of all they are."""
        for start in range(0, len(self.boards), size):
            part = slice(start, start + size)
            dice = None if self.dice is None else self.dice[part]
            cubes = None if self.cubes is None else self.cubes.take(part)
            yield part, Starts(self.boards[part], dice, self.mid[part], self.keys[part], cubes)


class Forest:
    """One tree for each of ``starts``. ``nodes`` and ``used`` hold the trees; root ``i`` is decision ``i``, or chance node ``i`` before
    the roll. ``model`` prices the cubes of the starts, which then are in play."""

    def __init__(self, starts: Starts, engine: Engine, settings: Settings, prior: Prior, model: CubeModel | None = None) -> None:
        boards, dice, mid, self.keys, cubes = starts
        self.live = None if model is None or cubes is None else LiveCube(cubes, model, engine)
        self.engine, self.settings = engine, settings
        self.prior: Prior = prior
        self.count, self.kind = len(boards), CHANCE if dice is None else DECISION
        self._knowing = engine if isinstance(engine, KnowingEngine) else None  # asked once: it takes as long as a small kernel
        self.used = np.zeros(3, np.int64)
        self.nodes = empty()
        self._draws = np.zeros(self.count, np.int64)
        self._mode = CHANCE_MODES[settings.chance]
        if dice is None:
            self.nodes = grown(self.nodes, self.used, (self.count, 0, 0))
            self.nodes.c_board[: self.count] = boards
            if self.live is not None:
                self.nodes.c_cube[: self.count] = self.live.table()
            self.used[0] = self.count
        else:
            self.nodes = grown(self.nodes, self.used, (0, self.count, 0))
            self.nodes.d_board[: self.count] = boards
            self.nodes.d_dice[: self.count] = low_first(dice)
            self.nodes.d_mid[: self.count] = mid
            if self.live is not None:
                self.nodes.d_cube[: self.count] = self.live.table()
            self.used[1] = self.count
            self._expand(np.arange(self.count))
            if settings.noise:
                self._add_noise()

    def simulate(self) -> None:
        """Send ``simulations`` down every tree, ``leaves`` at a time."""
        done = 0
        while done < self.settings.simulations:
            width = min(self.settings.leaves, self.settings.simulations - done)
            self._step(width)
            done += width

    def _step(self, width: int) -> None:
        total = self.count * width
        tree = np.repeat(np.arange(self.count), width)
        simulations = Simulations(tree, np.full(total, self.kind, np.int8), tree.copy(), np.zeros(total, bool))
        if self.kind == DECISION:
            self.nodes.d_in_flight[: self.count] += width
        leaves, to_expand = np.empty(total, np.int64), np.empty(total, np.int64)
        settings = self.settings
        while not simulations.done.all():
            self.nodes = grown(self.nodes, self.used, (total, total, 0))
            n_leaves, n_expand = descend(
                self.nodes,
                self.used,
                simulations,
                self.keys,
                self._draws,
                self._mode,
                settings.c_puct,
                settings.virtual_loss,
                leaves,
                to_expand,
            )
            if n_leaves:
                self._value(leaves[:n_leaves])
            if n_expand:
                self._expand(to_expand[:n_expand])
        backup(self.nodes, simulations.node, self._mode)

    def _value(self, leaves: NDArray[np.int64]) -> None:
        """Value new chance nodes; below finished games, and boards other than a root that the engine knows for certain, nothing grows."""
        if self.live is not None:
            self.nodes = self.live.settle(self.nodes, self.used, leaves)
            return
        nodes = self.nodes
        boards = nodes.c_board[leaves]
        inner = nodes.c_parent[leaves] >= 0
        exact = terminal_points(boards) != 0
        if self._knowing is not None:
            exact |= np.asarray(self._knowing.knows(boards), bool) & inner
        values = np.full(len(leaves), np.nan)
        values[inner] = -nodes.e_initial[nodes.c_parent[leaves[inner]]]
        unknown = np.isnan(values)
        if unknown.any():
            values[unknown] = self.engine.value(boards[unknown])
        nodes.c_value[leaves] = values
        nodes.c_state[leaves] = np.where(exact, EXACT, VALUED)

    def _expand(self, decisions: NDArray[np.int64]) -> None:
        nodes = self.nodes
        boards, dice, mid = nodes.d_board[decisions], nodes.d_dice[decisions], nodes.d_mid[decisions]
        temperatures = self.settings.prior_temperature, self.settings.policy_temperature
        edges = expand(boards, dice, mid, self.engine, self.prior, temperatures, self._values(nodes.d_cube[decisions]))
        count, start = len(edges.ids), int(self.used[2])
        self.nodes = nodes = grown(nodes, self.used, (0, 0, count))
        nodes.d_first_edge[decisions] = start + edges.offsets[:-1]
        nodes.d_edges[decisions] = np.diff(edges.offsets)
        place = slice(start, start + count)
        nodes.e_action[place], nodes.e_again[place] = edges.ids, edges.again
        nodes.e_prior[place], nodes.e_initial[place] = edges.prior, edges.initial
        nodes.e_parent[place] = ragged.spread(decisions, edges.offsets)
        self.used[2] = start + count

    def _values(self, cubes: NDArray[np.int32]) -> Values:
        """What values the afterstates of decisions with ``cubes int32[P, 4]``."""
        live = self.live
        if live is not None:
            return lambda boards, rows: live.values(boards, cubes[rows])
        return lambda boards, rows: leaf_values(enumerate_leaves(boards), self.engine)

    def _add_noise(self) -> None:
        """Mix Dirichlet noise into the priors of the roots, which have been expanded and nothing else."""
        nodes, share = self.nodes, self.settings.noise
        edges, row = slice(0, int(self.used[2])), nodes.e_parent[: int(self.used[2])]
        within = np.arange(len(row)) - nodes.d_first_edge[row]
        gamma = gammaincinv(self.settings.noise_alpha, uniform(hash64(0, "mcts noise", self.keys[row], within)))
        total = np.bincount(row, gamma, self.count)[row]
        counts = nodes.d_edges[row]
        noise = np.where(total > 0, gamma / np.where(total > 0, total, 1.0), 1.0 / counts)
        nodes.e_prior[edges] = (1.0 - share) * nodes.e_prior[edges] + share * noise

"""Monte Carlo tree search: PUCT over OpenSpiel's half turns with explicit rolls, many games at a time.

Selection follows the predictor + UCT rule of AlphaZero (Silver et al. 2017). A double is two decisions of one side; a value
changes its sign where the side changes and only there. The trees are in ``mcts_nodes`` and ``mcts_walk``,
their growth in ``mcts_forest``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import number, quoted, whole
from raccoon.contracts import Boards, Engine, RaccoonError, SearchResult, Turns
from raccoon.engine.base import policy_engine
from raccoon.env import ragged
from raccoon.env.board import unfinished
from raccoon.env.half_moves import apply_actions
from raccoon.env.lookup import ChildLookup
from raccoon.env.movegen import check_dice
from raccoon.env.position_ids import position_words
from raccoon.rng import hash64, uniform
from raccoon.search.lookahead import child_values
from raccoon.search.mcts.expand import Prior
from raccoon.search.mcts.forest import CHANCE_MODES, Chance, Forest, Settings

__all__ = ["MCTS", "Played", "Roots"]


@dataclass(frozen=True)
class Roots:
    """What a search found at N decisions: sparse, one entry for each of the K distinct results of their half turns.

    ``boards int8[N, 2, 25]``, ``dice int8[N, 2]``, ``mid bool[N]`` as searched; ``value float64[N]`` (value scale, to the side that
    decides) is the mean over all simulations. ``offsets int64[N + 1]``; ``ids int64[K]``: the lowest of OpenSpiel's actions
    (in the mover's numbering) with this result; ``again bool[K]``: the same side goes on with its double; ``visits
    int64[K]``; ``values float64[K]`` to the mover, NaN where never visited; ``priors float64[K]``, noise included.
    """

    boards: Boards
    dice: NDArray[np.int8]
    mid: NDArray[np.bool_]
    value: NDArray[np.float64]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int64]
    again: NDArray[np.bool_]
    visits: NDArray[np.int64]
    values: NDArray[np.float64]
    priors: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.boards)

    def policy(self, temperature: ArrayLike = 1.0) -> NDArray[np.float64]:
        """``float64[K]``: visits to the power of 1 / ``temperature`` (a number or ``float[N]``), as shares of each row.

        1 is the training target of AlphaZero; 0 gives all to the most visited (of those, the highest value, then the first).
        """
        return _shares(self.visits, self.values, self.offsets, temperature)

    def pick(self, keys: NDArray[np.uint64], temperature: ArrayLike = 0.0) -> NDArray[np.int64]:
        """``int64[N]``: an entry of each row, drawn from ``policy(temperature)`` by ``keys uint64[N]``."""
        return _drawn(self.policy(temperature), self.offsets, keys)


class Played(NamedTuple):
    """Whole turns chosen half turn by half turn. ``chosen int64[N]`` indexes the children of each row; ``first`` are the searches of
    all rows, ``second`` those of the rows ``rows int64[R]`` whose double went on (None when there are none)."""

    chosen: NDArray[np.int64]
    first: Roots
    second: Roots | None
    rows: NDArray[np.int64]


class MCTS:
    """``simulations`` for every decision, ``leaves`` of a tree at a time (more fill larger batches and search a little worse).

    ``c_puct``: weight of the prior. ``virtual_loss``: how much worse than its edge a simulation on its way is
    taken to be (value scale), so that the others of its tree go elsewhere.
    ``chance``: ``sampled`` rolls afresh on every visit; ``stratified`` deals the 36 rolls of a node from a shuffled deck, again and
    again; ``enumerated`` deals too, and a chance node is worth the mean over all 21 rolls by their odds, those not seen yet at the
    node's static value. ``prior``: ``policy`` (the network's head), ``value`` (a softmax of static values over
    ``prior_temperature``, value scale; these also stand in for plays not visited yet), ``uniform``; None: policy where there
    is one, else value. ``noise``: share of Dirichlet(``noise_alpha``) noise in the priors of the root. ``temperature``: 0 plays the
    most visited, above 0 draws by visits to the power of 1 / temperature. ``seed``: of rolls, noise and draws; with the
    position it decides everything, whatever else is searched at the same time. ``batch``: trees grown together.
    Raises RaccoonError naming a key of ``search.`` that cannot be.
    """

    def __init__(
        self,
        simulations: int = 200,
        leaves: int = 1,
        c_puct: float = 1.5,
        virtual_loss: float = 0.1,
        chance: Chance = "sampled",
        prior: Prior | None = None,
        prior_temperature: float = 0.02,
        noise: float = 0.0,
        noise_alpha: float = 0.3,
        temperature: float = 0.0,
        seed: int = 1,
        batch: int = 256,
        name: str | None = None,
    ) -> None:
        if chance not in CHANCE_MODES:
            raise RaccoonError(f"search.chance={quoted(chance)}: choose {', '.join(CHANCE_MODES)}")
        if prior not in (None, "policy", "value", "uniform"):
            raise RaccoonError(f"search.prior={quoted(prior)}: choose policy, value, uniform or null")
        self.prior: Prior | None = prior
        self.settings = Settings(
            whole("search.simulations", simulations, 1),
            whole("search.leaves", leaves, 1),
            number("search.c_puct", c_puct, "a number above 0", above=True),
            number("search.virtual_loss", virtual_loss, "a number, 0 or more"),
            chance,
            "uniform",
            number("search.prior_temperature", prior_temperature, "a number above 0", above=True),
            number("search.noise", noise, "a share from 0 to 1", most=1.0),
            number("search.noise_alpha", noise_alpha, "a number above 0", above=True),
        )
        self.temperature = number("search.temperature", temperature, "a number, 0 or more")
        self.seed, self.batch = whole("search.seed", seed, 0), whole("search.batch", batch, 1)
        self.name = name or f"mcts{simulations}" + ("" if chance == "sampled" else f"-{chance}") + (f"-{prior}" if prior else "")

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        """See ``Search.values``: a child's value is the mean of its visits, or static where it has none.

        Only one child of a row is ``full``, the one to play. The visits of a double's whole turn are added up over its first
        halves. Rows with one child are not searched.
        """
        before = engine.evaluations
        static = child_values(turns, engine).values
        visits, sums = np.zeros(len(static)), np.zeros(len(static))
        rows = np.flatnonzero(np.diff(turns.offsets) > 1)
        if len(rows):
            lookup = ChildLookup(turns)
            keys = self.keys(turns.boards[rows], turns.dice[rows], None)
            for start in range(0, len(rows), self.batch):
                part = rows[start : start + self.batch]
                forest = self._grown(turns.boards[part], turns.dice[part], None, keys[start : start + self.batch], engine)
                tree, boards, n, w = _whole_turns(forest)
                child = lookup.find(part[tree], boards)
                visits += np.bincount(child, n, len(visits))
                sums += np.bincount(child, w, len(sums))
        values = np.where(visits > 0, sums / np.maximum(visits, 1.0), static)
        draws = hash64(self.seed, "mcts play", self.keys(turns.boards, turns.dice, None))
        chosen = _drawn(_shares(visits, values, turns.offsets, self.temperature), turns.offsets, draws)
        full = np.zeros(len(values), bool)
        full[chosen] = True
        return SearchResult(values, full, engine.evaluations - before)

    def search(
        self,
        boards: ArrayLike,
        dice: ArrayLike,
        engine: Engine,
        mid_doubles: NDArray[np.bool_] | None = None,
        keys: NDArray[np.uint64] | None = None,
    ) -> Roots:
        """Search N decisions: ``boards [N, 2, 25]``, ``dice [N, 2]``, ``mid_doubles bool[N]`` (the first half has been played).

        ``keys uint64[N]``: randomness of each tree, such as ``hash64(seed, "self-play", game, roll)``; None: from the position.
        Raises RaccoonError for illegal or finished boards.
        """
        array = unfinished(boards)
        rolls = check_dice(dice, len(array))
        mid = np.zeros(len(array), bool) if mid_doubles is None else np.asarray(mid_doubles, bool)
        keys = self.keys(array, rolls, mid) if keys is None else keys
        parts: list[tuple[NDArray[Any], ...]] = []
        for start in range(0, len(array), self.batch):
            part = slice(start, start + self.batch)
            parts.append(_roots(self._grown(array[part], rolls[part], mid[part], keys[part], engine)))
        return _joined(parts, array, rolls, mid)

    def pre_roll(self, boards: ArrayLike, engine: Engine, keys: NDArray[np.uint64] | None = None) -> NDArray[np.float64]:
        """``float64[N]``: value (value scale) of unfinished boards before the roll to the side on roll, by a tree for each."""
        array = unfinished(boards)
        keys = self.keys(array, np.zeros((len(array), 2), np.int8), None) if keys is None else keys
        out = np.empty(len(array))
        for start in range(0, len(array), self.batch):
            part = slice(start, start + self.batch)
            forest = self._grown(array[part], None, None, keys[part], engine)
            out[part] = forest.nodes.c_value_sum[: forest.count] / forest.nodes.c_visits[: forest.count]
        return out

    def play(self, turns: Turns, engine: Engine, keys: NDArray[np.uint64], temperature: ArrayLike = 0.0) -> Played:
        """Choose half turns as self-play does: a search, a draw at ``temperature`` (a number or ``float[N]``), and for a double that
        goes on another search from the board in between. ``keys uint64[N]``: randomness of each row."""
        temperatures = np.broadcast_to(np.asarray(temperature, np.float64), len(turns))
        first = self.search(turns.boards, turns.dice, engine, None, hash64(self.seed, "mcts half", keys, 0))
        picked = first.pick(hash64(self.seed, "mcts pick", keys, 0), temperatures)
        after, again = apply_actions(turns.boards, turns.dice, first.ids[picked])
        rows, second = np.flatnonzero(again), None
        if len(rows):
            halves, dice, mid = after[rows], turns.dice[rows], np.ones(len(rows), bool)
            second = self.search(halves, dice, engine, mid, hash64(self.seed, "mcts half", keys[rows], 1))
            more = second.pick(hash64(self.seed, "mcts pick", keys[rows], 1), temperatures[rows])
            after[rows] = apply_actions(halves, dice, second.ids[more], mid)[0]
        chosen = ChildLookup(turns).find(np.arange(len(turns)), after) - turns.offsets[:-1]
        return Played(chosen, first, second, rows)

    def keys(self, boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_] | None) -> NDArray[np.uint64]:
        """``uint64[N]``: the randomness that belongs to each position, by ``seed``."""
        words = position_words(boards)
        low, high = dice.min(axis=1), dice.max(axis=1)
        second = np.zeros(len(boards), np.int64) if mid is None else mid.astype(np.int64)
        return hash64(self.seed, "mcts", words[:, 0], words[:, 1], low, high, second)

    def _grown(
        self,
        boards: Boards,
        dice: NDArray[np.int8] | None,
        mid: NDArray[np.bool_] | None,
        keys: NDArray[np.uint64],
        engine: Engine,
    ) -> Forest:
        has_policy = policy_engine(engine) is not None
        if self.prior == "policy" and not has_policy:
            raise RaccoonError(f"search.prior=policy: engine {engine.name} has no policy head; choose value, uniform or null")
        prior: Prior = self.prior or ("policy" if has_policy else "value")
        forest = Forest(boards, dice, mid, keys, engine, replace(self.settings, prior=prior))
        forest.simulate()
        return forest


def _whole_turns(forest: Forest) -> tuple[NDArray[np.int64], Boards, NDArray[np.int64], NDArray[np.float64]]:
    """Root (row of the forest), afterstate, visits and sum of values to the mover of every visited way to play a turn."""
    nodes, roots = forest.nodes, forest.count
    edges = np.arange(int(nodes.d_edges[:roots].sum()))
    edges = edges[nodes.e_visits[edges] > 0]
    over, tree = edges[~nodes.e_again[edges]], nodes.e_parent[edges]
    halves = nodes.e_child[edges[nodes.e_again[edges]]]
    counts = nodes.d_edges[halves].astype(np.int64)
    ends, offsets = ragged.ranges(nodes.d_first_edge[halves], counts)
    tree = np.concatenate([nodes.e_parent[over], ragged.spread(tree[nodes.e_again[edges]], offsets)])
    every = np.concatenate([over, ends])
    seen = nodes.e_visits[every] > 0
    every = every[seen]
    return (
        tree[seen].astype(np.int64),
        nodes.c_board[nodes.e_child[every]],
        nodes.e_visits[every].astype(np.int64),
        nodes.e_value_sum[every],
    )


def _shares(
    visits: NDArray[np.floating] | NDArray[np.int64], values: NDArray[np.float64], offsets: NDArray[np.int64], temperature: ArrayLike
) -> NDArray[np.float64]:
    temperatures = ragged.spread(np.broadcast_to(np.asarray(temperature, np.float64), len(offsets) - 1), offsets)
    most = ragged.spread(ragged.row_max(visits, offsets), offsets)
    top = np.where(visits == most, np.where(np.isnan(values), -np.inf, values), -np.inf)
    best = (visits == most) & (top == ragged.spread(ragged.row_max(top, offsets), offsets))
    cold = np.zeros(len(visits))
    cold[ragged.first_where(best, offsets)] = 1.0
    # of a row without visits (a single play, not searched) every entry counts alike
    share = np.where(most > 0, visits / np.maximum(most, 1), 1.0)
    with np.errstate(under="ignore"):
        weight = np.where(share > 0, share ** (1.0 / np.where(temperatures > 0, temperatures, 1.0)), 0.0)
    return np.where(temperatures > 0, ragged.shares(weight, offsets), cold)


def _drawn(shares: NDArray[np.float64], offsets: NDArray[np.int64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """``int64[N]``: an entry of each row drawn by its shares; never one whose share is 0."""
    upto = np.cumsum(shares)
    before = ragged.spread(np.append(0.0, upto)[offsets[:-1]], offsets)
    point = ragged.spread(uniform(keys), offsets)
    passed = (upto - before <= point) | (shares == 0)
    hits = np.flatnonzero(~passed)
    place = np.searchsorted(hits, offsets[:-1])
    found = hits[np.minimum(place, len(hits) - 1)]
    # rounding can leave the last number of a row below the point: its last possible entry then
    last = ragged.row_max(np.where(shares > 0, np.arange(len(shares)), -1), offsets)
    return np.where((place < len(hits)) & (found < offsets[1:]) & (found >= offsets[:-1]), found, last)


def _roots(forest: Forest) -> tuple[NDArray[Any], ...]:
    nodes, count = forest.nodes, forest.count
    total = int(nodes.d_edges[:count].sum())  # the roots were expanded first, in order
    visits = nodes.e_visits[:total]
    values = np.where(visits > 0, nodes.e_value_sum[:total] / np.maximum(visits, 1), np.nan)
    head = (nodes.d_value_sum[:count] / nodes.d_visits[:count], nodes.d_edges[:count].astype(np.int64))
    return (*head, nodes.e_action[:total].astype(np.int64), nodes.e_again[:total], visits.astype(np.int64), values, nodes.e_prior[:total])


def _joined(parts: list[tuple[NDArray[Any], ...]], boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_]) -> Roots:
    value, counts, *rest = (np.concatenate(column) for column in zip(*parts, strict=True))
    ids, again, visits, values, priors = rest
    offsets = ragged.offsets_of(counts)
    return Roots(boards, dice, mid, value, offsets, ids.astype(np.int64), again.astype(bool), visits.astype(np.int64), values, priors)

"""What a tree search found at the decisions at the roots of its trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards
from raccoon.env import ragged
from raccoon.rng import uniform
from raccoon.search.mcts.forest import Forest, Starts

__all__ = ["Roots", "drawn", "roots_of", "visit_shares", "whole_turns"]


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
        return visit_shares(self.visits, self.values, self.offsets, temperature)

    def pick(self, keys: NDArray[np.uint64], temperature: ArrayLike = 0.0) -> NDArray[np.int64]:
        """``int64[N]``: an entry of each row, drawn from ``policy(temperature)`` by ``keys uint64[N]``."""
        return drawn(self.policy(temperature), self.offsets, keys)


def roots_of(forests: Iterable[Forest], starts: Starts) -> Roots:
    """The ``Roots`` of all ``starts``, whose trees stand in ``forests`` in their order."""
    value, counts, *rest = (np.concatenate(column) for column in zip(*map(_columns, forests), strict=True))
    ids, again, visits, values, priors = rest
    offsets = ragged.offsets_of(counts)
    boards, dice, mid = starts.boards, starts.dice, starts.mid
    assert dice is not None
    return Roots(boards, dice, mid, value, offsets, ids.astype(np.int64), again.astype(bool), visits.astype(np.int64), values, priors)


def _columns(forest: Forest) -> tuple[NDArray[Any], ...]:
    nodes, count = forest.nodes, forest.count
    total = int(nodes.d_edges[:count].sum())  # the roots were expanded first, in order
    visits = nodes.e_visits[:total]
    values = np.where(visits > 0, nodes.e_value_sum[:total] / np.maximum(visits, 1), np.nan)
    head = (nodes.d_value_sum[:count] / nodes.d_visits[:count], nodes.d_edges[:count].astype(np.int64))
    return (*head, nodes.e_action[:total].astype(np.int64), nodes.e_again[:total], visits.astype(np.int64), values, nodes.e_prior[:total])


def whole_turns(forest: Forest) -> tuple[NDArray[np.int64], Boards, NDArray[np.int64], NDArray[np.float64]]:
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


def visit_shares(
    visits: NDArray[np.floating] | NDArray[np.int64], values: NDArray[np.float64], offsets: NDArray[np.int64], temperature: ArrayLike
) -> NDArray[np.float64]:
    """``float64[K]``: ``visits`` to the power of 1 / ``temperature`` as shares of each row; 0 gives all to the most visited, of those to
    the highest of ``values``, of those to the first."""
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


def drawn(shares: NDArray[np.float64], offsets: NDArray[np.int64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
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

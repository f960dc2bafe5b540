"""What a policy head should say, from values of whole turns: the inverse of ``raccoon.search.priors``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, SearchResult, Turns
from raccoon.env import ragged
from raccoon.env.lookup import ChildLookup
from raccoon.search.filters import keep_best
from raccoon.search.mcts.expand import Edges, results

__all__ = ["HalfTargets", "half_targets", "soft_shares"]


class HalfTargets(NamedTuple):
    """Targets of N half turns: ``boards int8[N, 2, 25]``, ``row int64[N]`` (of the ``Turns``), ``offsets int64[N + 1]``, per entry
    ``ids int64[K]`` (lowest OpenSpiel action of the result, mover's numbering) and ``shares float64[K]``, which sum to 1 over a
    row of N and may be 0; ``again bool[K]``: does the same side go on? ``entry int64[N]``: of second halves, which entry (of K) of the
    first halves leads to the row; None for first halves."""

    boards: Boards
    row: NDArray[np.int64]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int64]
    shares: NDArray[np.float64]
    again: NDArray[np.bool_]
    entry: NDArray[np.int64] | None = None


def soft_shares(found: SearchResult, offsets: NDArray[np.int64], top: int, temperature: float) -> NDArray[np.float64]:
    """``float64[M]``: softmax over each row's ``top`` best fully searched children of their values (to the mover, value scale)
    divided by ``temperature``; the others have 0."""
    values = np.where(found.full, found.values, -np.inf)
    best, starts = keep_best(values, offsets, top)
    out = np.zeros(len(values))
    with np.errstate(under="ignore"):
        out[best] = ragged.softmax(values[best], starts, temperature)
    return out


def half_targets(turns: Turns, shares: NDArray[np.float64]) -> tuple[HalfTargets, HalfTargets]:
    """``(first, second)``: the half turns that together play every child of ``turns`` with its ``shares float64[M]``.

    ``first`` has a row for each of ``turns``. A double that can be split in several ways goes to the first halves in equal parts: the
    mass of a first half is the sum over its whole turns. ``second`` has a row for each first half of some mass after which the same
    side goes on; there the shares are those of the whole turns behind it. A policy that answers so gives ``shares`` back in
    ``raccoon.search.priors.priors``.
    """
    edges = results(turns.boards, turns.dice, np.zeros(len(turns), bool))
    row = ragged.row_of(edges.offsets)
    child = ChildLookup(turns)
    over, on = np.flatnonzero(~edges.again), np.flatnonzero(edges.again)
    behind = results(edges.boards[on], turns.dice[row[on]], np.ones(len(on), bool))
    half = ragged.spread(on, behind.offsets)
    # every way to play a turn: its first half and its child
    first_of = np.concatenate([over, half])
    child_of = np.concatenate([child.find(row[over], edges.boards[over]), child.find(row[half], behind.boards)])
    ways = np.bincount(child_of, minlength=len(shares))
    mass = shares[child_of] / ways[child_of]
    reached = np.bincount(first_of, mass, len(row)).astype(np.float64)
    first = HalfTargets(turns.boards, np.arange(len(turns)), edges.offsets, edges.ids.astype(np.int64), reached, edges.again)
    return first, _second(edges, behind, on, row, mass[len(over) :], reached)


def _second(
    edges: Edges, behind: Edges, on: NDArray[np.int64], row: NDArray[np.int64], mass: NDArray[np.float64], reached: NDArray[np.float64]
) -> HalfTargets:
    """The rows of ``behind`` (halves ``on``) that have some mass, each scaled to 1."""
    wanted = reached[on] > 0
    entries, offsets = ragged.take(behind.offsets, wanted)
    kept = on[wanted]
    scaled = mass[entries] / ragged.spread(reached[kept], offsets)
    ids = behind.ids[entries].astype(np.int64)
    return HalfTargets(edges.boards[kept], row[kept], offsets, ids, scaled, behind.again[entries], kept)

"""The trees of a Monte Carlo tree search as arrays.

There are two kinds of nodes. A *decision* is a board with dice (or the second half of a double) and has an edge for each
distinct result of OpenSpiel's actions there. A *chance* node is a board before a roll and has 21 places for decisions. An
edge leads to a chance node of the other side, or, in the middle of a double, to a decision of the same side. Sums of
values belong to the side that acts (an edge's: the side that plays it), so a sign changes exactly where an edge ends in
a chance node, however many decisions a side makes in a row.

All trees of a search share the arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BELOW_CHANCE",
    "BELOW_EDGE",
    "CHANCE",
    "DECISION",
    "EXACT",
    "NEW",
    "PENDING",
    "ROOT",
    "VALUED",
    "Flights",
    "Nodes",
    "empty",
    "grown",
]

CHANCE, DECISION = 0, 1
NEW, PENDING, VALUED, EXACT = 0, 1, 2, 3
ROOT, BELOW_CHANCE, BELOW_EDGE = 0, 1, 2


class Nodes(NamedTuple):
    """Arrays of chance nodes (``c_``), decisions (``d_``) and edges (``e_``), longer than what is in use.

    ``n`` finished simulations through it, ``w`` sum of their values to the side that acts, ``flight`` simulations on their
    way; ``up`` and ``down`` link the nodes, -1 for none. ``c_value`` is the engine's, to the side on roll; ``d_first`` -1
    where the edges are not known, -2 where they have been asked for; ``e_first`` what an edge is worth before its first
    visit, NaN where nobody knows; ``e_again``: it leads to the same side's second half.
    """

    c_board: NDArray[np.int8]
    c_state: NDArray[np.int8]
    c_value: NDArray[np.float64]
    c_n: NDArray[np.int32]
    c_w: NDArray[np.float64]
    c_up: NDArray[np.int32]
    c_down: NDArray[np.int32]
    d_board: NDArray[np.int8]
    d_dice: NDArray[np.int8]
    d_mid: NDArray[np.bool_]
    d_kind: NDArray[np.int8]
    d_first: NDArray[np.int32]
    d_count: NDArray[np.int32]
    d_n: NDArray[np.int32]
    d_flight: NDArray[np.int32]
    d_w: NDArray[np.float64]
    d_up: NDArray[np.int32]
    e_id: NDArray[np.int16]
    e_again: NDArray[np.bool_]
    e_prior: NDArray[np.float64]
    e_first: NDArray[np.float64]
    e_n: NDArray[np.int32]
    e_flight: NDArray[np.int32]
    e_w: NDArray[np.float64]
    e_down: NDArray[np.int32]
    e_up: NDArray[np.int32]


_SHAPES = {"c_board": (2, 25), "c_down": (21,), "d_board": (2, 25), "d_dice": (2,)}
_TYPES = {"board": np.int8, "state": np.int8, "value": np.float64, "n": np.int32, "w": np.float64, "up": np.int32, "down": np.int32}
_TYPES |= {"dice": np.int8, "mid": np.bool_, "kind": np.int8, "first": np.int32, "count": np.int32, "flight": np.int32}
_TYPES |= {"id": np.int16, "again": np.bool_, "prior": np.float64}
_MINUS = ("c_up", "c_down", "d_first", "d_up", "e_down", "e_up")


def _block(name: str, rows: int) -> NDArray[Any]:
    kind = np.float64 if name == "e_first" else _TYPES[name[2:]]
    return np.full((rows, *_SHAPES.get(name, ())), -1 if name in _MINUS else 0, kind)


def empty() -> Nodes:
    """No nodes at all."""
    return Nodes(**{name: _block(name, 0) for name in Nodes._fields})


def grown(nodes: Nodes, used: NDArray[np.int64], more: tuple[int, int, int]) -> Nodes:
    """``nodes`` with room for ``more`` chance nodes, decisions and edges after the ``used int64[3]`` ones."""
    out = nodes._asdict()
    for place, prefix in enumerate("cde"):
        need, have = int(used[place]) + more[place], len(out[f"{prefix}_n"])
        if need > have:
            extra = max(need, have * 3 // 2) - have
            for name in Nodes._fields:
                if name[0] == prefix:
                    out[name] = np.concatenate([out[name], _block(name, extra)])
    return Nodes(**out)


class Flights(NamedTuple):
    """Simulations on their way, those of a tree side by side: ``tree int64[S]``, ``kind int8[S]`` and ``node int64[S]`` where each
    stands, ``begun bool[S]``, ``done bool[S]``: it ended at a chance node."""

    tree: NDArray[np.int64]
    kind: NDArray[np.int8]
    node: NDArray[np.int64]
    begun: NDArray[np.bool_]
    done: NDArray[np.bool_]

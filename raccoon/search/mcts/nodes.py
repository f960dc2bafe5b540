"""The trees of a Monte Carlo tree search as arrays.

There are two kinds of nodes. A *decision* is a board with dice (or the second half of a double) and has an edge for each
distinct result of OpenSpiel's actions there. A *chance* node is a board before a roll and has 21 places for decisions. An
edge leads to a chance node of the other side, or, in the middle of a double, to a decision of the same side. Sums of
values belong to the side that acts (an edge's: the side that plays it), so a sign changes exactly where an edge ends in
a chance node, however many decisions a side makes in a row.

With a live cube (``raccoon.search.mcts.live_cube``) every node has a cube, seen from the side that acts. A chance node whose side may
double has a *turned* one beside it: the same board after a double and a take. Both are rolled from, and what goes up from the first
is the equity of the better choice.

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
    "REQUESTED",
    "ROOT",
    "UNEXPANDED",
    "VALUED",
    "Nodes",
    "Simulations",
    "empty",
    "grown",
]

CHANCE, DECISION = 0, 1
"""Kinds of nodes."""
NEW, PENDING, VALUED, EXACT = 0, 1, 2, 3
"""States of a chance node: nobody knows its value, the engine is being asked, known, and known with nothing to grow below it."""
ROOT, BELOW_CHANCE, BELOW_EDGE = 0, 1, 2
"""Where a decision is."""
UNEXPANDED, REQUESTED = -1, -2
"""Instead of the first edge of a decision: its edges are not known, or have been asked for."""


class Nodes(NamedTuple):
    """Arrays of chance nodes (``c_``), decisions (``d_``) and edges (``e_``), longer than what is in use.

    ``visits``: finished simulations through it. ``value_sum``: the sum of their values to the side that acts. ``in_flight``:
    simulations on their way. ``parent``, ``child`` and ``children`` link the nodes, -1 for none. ``c_value`` is the engine's value to
    the side on roll. ``d_first_edge`` is the first of ``d_edges`` edges, or UNEXPANDED, or REQUESTED. ``e_action`` is OpenSpiel's
    action. ``e_initial`` is what an edge is worth before its first visit, NaN where nobody knows. ``e_again``: the edge leads to the
    second half of the same side's double.

    ``cube``: value, owner to the side that acts, whether that is the other side than at the root, and the tree. ``c_turned``: the
    turned node beside it; ``c_decided``, ``c_decided_sum``: visits and values of both together. Of a turned node, ``c_above``: the one
    that it is beside; ``c_stake``, ``c_pass``, ``c_beaver``: what an equity here and a pass are worth to that one, and whether the
    taker may beaver.
    """

    c_board: NDArray[np.int8]
    c_state: NDArray[np.int8]
    c_value: NDArray[np.float64]
    c_visits: NDArray[np.int32]
    c_value_sum: NDArray[np.float64]
    c_parent: NDArray[np.int32]
    c_children: NDArray[np.int32]
    c_cube: NDArray[np.int32]
    c_turned: NDArray[np.int32]
    c_above: NDArray[np.int32]
    c_stake: NDArray[np.float64]
    c_pass: NDArray[np.float64]
    c_beaver: NDArray[np.bool_]
    c_decided: NDArray[np.int32]
    c_decided_sum: NDArray[np.float64]
    d_board: NDArray[np.int8]
    d_dice: NDArray[np.int8]
    d_mid: NDArray[np.bool_]
    d_kind: NDArray[np.int8]
    d_first_edge: NDArray[np.int32]
    d_edges: NDArray[np.int32]
    d_visits: NDArray[np.int32]
    d_in_flight: NDArray[np.int32]
    d_value_sum: NDArray[np.float64]
    d_parent: NDArray[np.int32]
    d_cube: NDArray[np.int32]
    e_action: NDArray[np.int16]
    e_again: NDArray[np.bool_]
    e_prior: NDArray[np.float64]
    e_initial: NDArray[np.float64]
    e_visits: NDArray[np.int32]
    e_in_flight: NDArray[np.int32]
    e_value_sum: NDArray[np.float64]
    e_child: NDArray[np.int32]
    e_parent: NDArray[np.int32]


_SHAPES = {"c_board": (2, 25), "c_children": (21,), "c_cube": (4,), "d_board": (2, 25), "d_dice": (2,), "d_cube": (4,)}
_TYPES = {
    **dict.fromkeys(("board", "state", "dice", "kind"), np.int8),
    **dict.fromkeys(("mid", "again", "beaver"), np.bool_),
    "action": np.int16,
    **dict.fromkeys(("value", "value_sum", "prior", "initial", "stake", "pass", "decided_sum"), np.float64),
    **dict.fromkeys(("visits", "in_flight", "parent", "children", "child", "first_edge", "edges"), np.int32),
    **dict.fromkeys(("cube", "turned", "above", "decided"), np.int32),
}
_NONE = ("c_parent", "c_children", "c_turned", "c_above", "d_parent", "e_child", "e_parent")


def _block(name: str, rows: int) -> NDArray[Any]:
    empty = UNEXPANDED if name == "d_first_edge" else -1 if name in _NONE else 0
    return np.full((rows, *_SHAPES.get(name, ())), empty, _TYPES[name[2:]])


def empty() -> Nodes:
    """No nodes at all."""
    return Nodes(**{name: _block(name, 0) for name in Nodes._fields})


def grown(nodes: Nodes, used: NDArray[np.int64], more: tuple[int, int, int]) -> Nodes:
    """``nodes`` with room for ``more`` chance nodes, decisions and edges after the ``used int64[3]`` ones."""
    out = nodes._asdict()
    for place, prefix in enumerate("cde"):
        need, have = int(used[place]) + more[place], len(out[f"{prefix}_visits"])
        if need > have:
            extra = max(need, have * 3 // 2) - have
            for name in Nodes._fields:
                if name[0] == prefix:
                    out[name] = np.concatenate([out[name], _block(name, extra)])
    return Nodes(**out)


class Simulations(NamedTuple):
    """Simulations on their way, those of a tree side by side: ``tree int64[S]``, ``kind int8[S]`` and ``node int64[S]`` where each
    stands, ``done bool[S]``: it ended at a chance node."""

    tree: NDArray[np.int64]
    kind: NDArray[np.int8]
    node: NDArray[np.int64]
    done: NDArray[np.bool_]

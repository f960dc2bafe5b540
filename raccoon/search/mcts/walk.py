"""The kernels that walk the trees of a Monte Carlo tree search: down to what only an engine knows, and back up.

A simulation goes down from its root until it needs the value of a new chance node (there it ends) or the edges of a new
decision (there it waits). The kernels are loops, not recursions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.env.half_moves import play
from raccoon.env.kernels import kernel
from raccoon.env.movegen import ROLLS
from raccoon.rng import GOLDEN, MIX1, MIX2
from raccoon.search.mcts.nodes import (
    BELOW_CHANCE,
    BELOW_EDGE,
    CHANCE,
    DECISION,
    NEW,
    PENDING,
    REQUESTED,
    ROOT,
    UNEXPANDED,
    VALUED,
    Nodes,
    Simulations,
)
from raccoon.search.mcts.offers import branch, decided

__all__ = ["DEALT", "ENUMERATED", "SAMPLED", "backup", "descend", "draw"]

SAMPLED, DEALT, ENUMERATED = 0, 1, 2
_LOW, _HIGH = ROLLS[:, 0].astype(np.int64), ROLLS[:, 1].astype(np.int64)
_WEIGHT = np.where(_LOW == _HIGH, 1, 2)
_OUTCOME = np.repeat(np.arange(21), _WEIGHT)


@kernel
def draw(key: np.uint64, number: int) -> np.int64:
    """Draw ``number`` of the stream ``key``: uniform below 2**32 (a splitmix64 step)."""
    x = key + np.uint64(number + 1) * GOLDEN
    x = (x ^ (x >> np.uint64(30))) * MIX1
    x = (x ^ (x >> np.uint64(27))) * MIX2
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(32))


@kernel
def _roll(nodes: Nodes, chance: int, mode: int, random: np.int64) -> int:
    """Which of ``ROLLS``. Afresh each time, or dealt from a deck of the 36 that is shuffled anew when it is empty."""
    if mode == SAMPLED:
        return int(_OUTCOME[(random * 36) >> 32])
    seen = 0
    for roll in range(21):
        below = int(nodes.c_children[chance, roll])
        if below >= 0:
            seen += nodes.d_visits[below] + nodes.d_in_flight[below]
    decks = seen // 36 + 1
    place = (random * (36 * decks - seen)) >> 32
    for roll in range(21):
        left = _WEIGHT[roll] * decks
        below = int(nodes.c_children[chance, roll])
        if below >= 0:
            left -= nodes.d_visits[below] + nodes.d_in_flight[below]
        if place < left:
            return roll
        place -= left
    return 20


@kernel
def _select(nodes: Nodes, decision: int, c_puct: float, virtual_loss: float) -> int:
    """The edge of highest Q + c P sqrt(1 + N) / (1 + n), the first of equals.

    The 1 below the root makes the prior decide the first visit. An edge without visits is worth ``e_initial`` or, unknown, what
    the decision has been worth so far. Simulations on their way count as visits that came out ``virtual_loss`` worse than the
    edge is worth: measured from there, not from zero, they repel in lost positions too.
    """
    start = nodes.d_first_edge[decision]
    stop = start + nodes.d_edges[decision]
    total = 0
    for edge in range(start, stop):
        total += nodes.e_visits[edge] + nodes.e_in_flight[edge]
    scale = c_puct * np.sqrt(1.0 + total)
    mean = nodes.d_value_sum[decision] / nodes.d_visits[decision] if nodes.d_visits[decision] > 0 else 0.0
    best, highest = start, -np.inf
    for edge in range(start, stop):
        visits = nodes.e_visits[edge] + nodes.e_in_flight[edge]
        if nodes.e_visits[edge] > 0:
            q = nodes.e_value_sum[edge] / nodes.e_visits[edge]
        else:
            q = nodes.e_initial[edge]
            if np.isnan(q):
                q = mean
        if nodes.e_in_flight[edge] > 0:
            q -= virtual_loss * nodes.e_in_flight[edge] / visits
        score = q + scale * nodes.e_prior[edge] / (1.0 + visits)
        if score > highest:
            best, highest = edge, score
    return best


@kernel
def _decision(nodes: Nodes, used: NDArray[np.int64], board: NDArray[np.int8], low: int, high: int, kind: int, up: int) -> int:
    """A new decision."""
    new = int(used[1])
    used[1] += 1
    nodes.d_board[new] = board
    nodes.d_dice[new, 0], nodes.d_dice[new, 1] = low, high
    nodes.d_mid[new] = kind == BELOW_EDGE
    nodes.d_kind[new], nodes.d_parent[new] = kind, up
    nodes.d_cube[new] = nodes.c_cube[up] if kind == BELOW_CHANCE else nodes.d_cube[nodes.e_parent[up]]
    return new


@kernel
def _follow(nodes: Nodes, used: NDArray[np.int64], edge: int) -> int:
    """The node below an edge, made when there is none."""
    if nodes.e_child[edge] >= 0:
        return int(nodes.e_child[edge])
    above = int(nodes.e_parent[edge])
    low, high = nodes.d_dice[above, 0], nodes.d_dice[above, 1]
    board = nodes.d_board[above].copy()
    if play(board, low, high, nodes.d_mid[above], nodes.e_action[edge]):
        below = _decision(nodes, used, board, low, high, BELOW_EDGE, edge)
    else:
        below = int(used[0])
        used[0] += 1
        nodes.c_board[below] = board
        nodes.c_parent[below] = edge
        nodes.c_cube[below] = nodes.d_cube[above]  # board and cube are seen from the other side, both at once
        nodes.c_cube[below, 1], nodes.c_cube[below, 2] = -nodes.d_cube[above, 1], 1 - nodes.d_cube[above, 2]
    nodes.e_child[edge] = below
    return below


@kernel
def _request(states: NDArray[Any], node: int, unknown: int, requested: int, out: NDArray[np.int64], count: int) -> int:
    """Ask for ``node`` once: write it to ``out`` where its state is ``unknown``, which becomes ``requested``; how many are in ``out``."""
    if states[node] != unknown:
        return count
    states[node] = requested
    out[count] = node
    return count + 1


@kernel
def descend(
    nodes: Nodes,
    used: NDArray[np.int64],
    simulations: Simulations,
    keys: NDArray[np.uint64],
    draws: NDArray[np.int64],
    mode: int,
    c_puct: float,
    virtual_loss: float,
    leaves: NDArray[np.int64],
    to_expand: NDArray[np.int64],
) -> tuple[int, int]:
    """Take every simulation as far as it goes without an engine. Each makes one new node of each kind at most.

    ``keys uint64[T]`` and ``draws int64[T]`` (counted on) decide the dice of each tree. Fills ``leaves`` with the chance nodes to
    value and ``to_expand`` with the decisions to expand, each once, and returns how many.
    """
    n_leaves, n_expand = 0, 0
    for i in range(simulations.tree.shape[0]):
        if simulations.done[i]:
            continue
        tree, kind, node = int(simulations.tree[i]), int(simulations.kind[i]), int(simulations.node[i])
        while True:
            if kind == DECISION:
                if nodes.d_first_edge[node] < 0:
                    n_expand = _request(nodes.d_first_edge, node, UNEXPANDED, REQUESTED, to_expand, n_expand)
                    break
                edge = _select(nodes, node, c_puct, virtual_loss)
                nodes.e_in_flight[edge] += 1
                node = _follow(nodes, used, edge)
                kind = DECISION if nodes.e_again[edge] else CHANCE
                if kind == DECISION:
                    nodes.d_in_flight[node] += 1
                continue
            if nodes.c_state[node] != VALUED:
                simulations.done[i] = nodes.c_state[node] != PENDING
                n_leaves = _request(nodes.c_state, node, NEW, PENDING, leaves, n_leaves)
                break
            if nodes.c_turned[node] >= 0:
                node = branch(nodes, node)
            roll = _roll(nodes, node, mode, draw(keys[tree], draws[tree]))
            draws[tree] += 1
            below = int(nodes.c_children[node, roll])
            if below < 0:
                below = _decision(nodes, used, nodes.c_board[node], _LOW[roll], _HIGH[roll], BELOW_CHANCE, node)
                nodes.c_children[node, roll] = below
            nodes.d_in_flight[below] += 1
            kind, node = DECISION, below
        simulations.kind[i], simulations.node[i] = kind, node
    return n_leaves, n_expand


@kernel
def _expectation(nodes: Nodes, chance: int) -> float:
    """The mean over the 21 rolls by their odds; one not seen yet counts as what the engine says of the board before the roll."""
    total = 0.0
    for roll in range(21):
        below = int(nodes.c_children[chance, roll])
        if below >= 0 and nodes.d_visits[below] > 0:
            total += _WEIGHT[roll] * (nodes.d_value_sum[below] / nodes.d_visits[below])
        else:
            total += _WEIGHT[roll] * nodes.c_value[chance]
    return total / 36.0


@kernel
def backup(nodes: Nodes, ends: NDArray[np.int64], mode: int) -> None:
    """Add the values of the chance nodes ``ends int64[S]`` to all that lies above them, one simulation after the other."""
    for end in ends:
        chance = int(end)
        value = nodes.c_value[chance]
        while True:
            nodes.c_visits[chance] += 1
            if mode == ENUMERATED and nodes.c_state[chance] == VALUED:
                # what goes up is the change of n times the expectation, so that sums above stay sums
                value = nodes.c_visits[chance] * _expectation(nodes, chance) - nodes.c_value_sum[chance]
            nodes.c_value_sum[chance] += value
            if nodes.c_above[chance] >= 0:
                chance = int(nodes.c_above[chance])
            if nodes.c_turned[chance] >= 0:
                value = decided(nodes, chance)
            edge = int(nodes.c_parent[chance])
            if edge < 0:
                break
            value = -value
            while True:
                nodes.e_visits[edge] += 1
                nodes.e_in_flight[edge] -= 1
                nodes.e_value_sum[edge] += value
                decision = int(nodes.e_parent[edge])
                nodes.d_visits[decision] += 1
                nodes.d_in_flight[decision] -= 1
                nodes.d_value_sum[decision] += value
                if nodes.d_kind[decision] != BELOW_EDGE:
                    break
                edge = int(nodes.d_parent[decision])
            if nodes.d_kind[decision] == ROOT:
                break
            chance = int(nodes.d_parent[decision])

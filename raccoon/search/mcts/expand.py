"""What a tree search asks of an engine at a new decision: its distinct results and how likely each is to be played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine, PolicyEngine
from raccoon.env import ragged
from raccoon.env.half_moves import N_ACTIONS, play, set_legal
from raccoon.env.kernels import kernel
from raccoon.env.position_ids import key_words

__all__ = ["Edges", "Prior", "Values", "expand", "results"]

_LEAST = 1e-12
Prior = Literal["policy", "value", "uniform"]
Values = Callable[[Boards, NDArray[np.int64]], NDArray[np.float64]]
"""Static values (value scale) to the mover of afterstates of given rows."""


class Edges(NamedTuple):
    """The distinct results of the actions of P decisions.

    ``offsets int64[P + 1]``; per edge ``ids int16[E]`` (the lowest of the actions that lead there, in the mover's numbering),
    ``again bool[E]`` (the same side goes on), ``boards int8[E, 2, 25]`` after it, ``prior float64[E]``, ``initial float64[E]``
    (value to the mover as far as known, else NaN). ``actions int64[A, 3]``: (row, action, edge) of every legal action.
    """

    offsets: NDArray[np.int64]
    ids: NDArray[np.int16]
    again: NDArray[np.bool_]
    boards: Boards
    prior: NDArray[np.float64]
    initial: NDArray[np.float64]
    actions: NDArray[np.int64]


@kernel
def _more(array: NDArray[Any], need: int) -> NDArray[Any]:
    if need <= array.shape[0]:
        return array
    grown = np.empty((max(need, array.shape[0] * 2), *array.shape[1:]), array.dtype)
    grown[: array.shape[0]] = array
    return grown


@kernel
def _results(
    boards: NDArray[np.int8], dice: NDArray[np.int8], mid: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int16], NDArray[np.bool_], NDArray[np.int8], NDArray[np.int64]]:
    rows = boards.shape[0]
    offsets = np.zeros(rows + 1, np.int64)
    room = rows * 20 + 1400
    ids, again = np.empty(room, np.int16), np.empty(room, np.bool_)
    after, actions = np.empty((room, 2, 25), np.int8), np.empty((2 * room, 3), np.int64)
    mask = np.empty(N_ACTIONS, np.bool_)
    lows, highs = np.empty(N_ACTIONS, np.uint64), np.empty(N_ACTIONS, np.uint64)
    board = np.empty((2, 25), np.int8)
    edges, used = 0, 0
    for row in range(rows):
        low, high = min(dice[row, 0], dice[row, 1]), max(dice[row, 0], dice[row, 1])
        ids, again, after = _more(ids, edges + N_ACTIONS), _more(again, edges + N_ACTIONS), _more(after, edges + N_ACTIONS)
        actions = _more(actions, used + N_ACTIONS)
        board[:] = boards[row]
        mask[:] = False
        set_legal(board, low, high, mask)
        start = edges
        for action in range(N_ACTIONS):
            if not mask[action]:
                continue
            board[:] = boards[row]
            more = play(board, low, high, mid[row], action)
            a, b = key_words(board)
            edge = start
            # a board in the middle of a double is seen from the same side, one after the turn from the other
            while edge < edges and not (lows[edge - start] == a and highs[edge - start] == b and again[edge] == more):
                edge += 1
            if edge == edges:
                ids[edge], again[edge], after[edge] = action, more, board
                lows[edge - start], highs[edge - start] = a, b
                edges += 1
            actions[used, 0], actions[used, 1], actions[used, 2] = row, action, edge
            used += 1
        offsets[row + 1] = edges
    return offsets, ids[:edges].copy(), again[:edges].copy(), after[:edges].copy(), actions[:used].copy()


def results(boards: Boards, dice: NDArray[np.int8], mid: NDArray[np.bool_]) -> Edges:
    """The ``Edges`` of legal, unfinished ``boards int8[P, 2, 25]``, all equally likely."""
    offsets, ids, again, after, actions = _results(boards, dice, mid)
    even = ragged.spread(1.0 / np.diff(offsets), offsets)
    return Edges(offsets, ids, again, after, even, np.full(len(ids), np.nan), actions)


def expand(
    boards: Boards,
    dice: NDArray[np.int8],
    mid: NDArray[np.bool_],
    engine: Engine,
    prior: Prior,
    temperatures: tuple[float, float],
    values: Values,
) -> Edges:
    """``results`` with an opinion of them: that of the ``engine``'s policy (``policy``), of ``values`` (``value``), or none (``uniform``).

    ``policy``: its chances to the power of 1 / the second of the ``temperatures``. ``value``: a softmax of static values over the first
    (value scale); a first half of a double is worth the best whole turn behind it.
    """
    edges = results(boards, dice, mid)
    if prior == "uniform":
        return edges
    if prior == "policy":
        row, action, edge = edges.actions.T
        policy = cast(PolicyEngine, engine)  # MCTS has made sure of it
        chances = np.asarray(policy.policy(boards, dice, mid), np.float64)[row, action]
        shares = np.bincount(edge, chances, len(edges.ids))
        if temperatures[1] != 1.0:
            shares = ragged.softmax(np.log(np.maximum(shares, _LEAST)), edges.offsets, temperatures[1])
        return edges._replace(prior=shares)
    initial = _static(edges, dice, values)
    return edges._replace(prior=ragged.softmax(initial, edges.offsets, temperatures[0]), initial=initial)


def _static(edges: Edges, dice: NDArray[np.int8], values: Values) -> NDArray[np.float64]:
    """``float64[E]``: static value of every edge to the mover."""
    going_on, row = np.flatnonzero(edges.again), ragged.row_of(edges.offsets)
    if len(going_on) == 0:
        return values(edges.boards, row)
    second = results(edges.boards[going_on], dice[row[going_on]], np.ones(len(going_on), bool))
    over, behind = ~edges.again, row[going_on][ragged.row_of(second.offsets)]
    found = values(np.concatenate([edges.boards[over], second.boards]), np.concatenate([row[over], behind]))
    out = np.empty(len(edges.ids))
    out[over] = found[: int(over.sum())]
    out[going_on] = ragged.row_max(found[int(over.sum()) :], second.offsets)
    return out

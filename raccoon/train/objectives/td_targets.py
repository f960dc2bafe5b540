"""Targets of TD(lambda), forward view, as pure functions of outcome distributions. No Lightning here.

Every pre-roll state of a game has a value ``V`` (an outcome distribution of the side on roll) and gets a target ``g`` made of
what came after it. With ``flip`` for the change of sides, from the last state backwards (``V`` of a finished game is exact,
and its own target):

    sampled:  g_t = flip((1 - lambda) V_(t+1) + lambda g_(t+1))
    exact:    g_t = B_t + lambda flip(g_(t+1) - V_(t+1)),   B_t = mean over the 21 rolls of flip(V of the best reply)

The first is Sutton's (1988) as TD-Gammon used it. In the second the state that the dice chose gives way to the mean over all
dice: with ``B_t`` for ``flip(V_(t+1))`` in the first line, both read the same. Where the game was played by the greedy player of
``V``, the mean of ``flip(V_(t+1))`` is ``B_t``, so that both targets have the same mean; the second lacks the luck of the dice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Engine
from raccoon.engine.outcomes import flip
from raccoon.env.lookup import unique_boards
from raccoon.search.expectimax import Tree

__all__ = ["backups", "lambda_returns", "lottery", "outcomes"]


def lottery(value: NDArray[np.floating]) -> NDArray[np.float64]:
    """``float64[N, 6]``: the distribution over the two backgammons whose equity / 3 is ``value [N]`` in [-1, 1].

    It stands for the number where a network knows nothing else; flipping it negates the value, and mixing mixes it.
    """
    probs6 = np.zeros((len(value), 6))
    probs6[:, 2] = (1.0 + np.clip(value, -1.0, 1.0)) / 2.0
    probs6[:, 5] = 1.0 - probs6[:, 2]
    return probs6


def outcomes(boards: Boards, engine: Engine) -> NDArray[np.float64]:
    """``float64[N, 6]`` of the side on roll; exact where the game is over; lotteries of an engine that only knows values."""
    if engine.has_probs:
        return np.asarray(engine.probs6(boards), np.float64)
    return lottery(np.asarray(engine.value(boards), np.float64))


def backups(boards: Boards, tree: Tree) -> NDArray[np.float64]:
    """``float64[N, 6]``: one-ply backups ``B`` of unfinished pre-roll boards, side on roll; equal boards are backed up once.

    Replies are the best by the value of ``tree.engine`` among those that ``tree.prune`` leaves.
    """
    first, inverse = unique_boards(boards)
    distinct, parts = boards[first], [np.zeros((0, 6))]
    for start in range(0, len(distinct), tree.step):
        part = distinct[start : start + tree.step]
        parts.append(tree.chances(part, 1) if tree.engine.has_probs else lottery(tree.values(part, 1)))
    return np.concatenate(parts)[inverse]


def lambda_returns(
    values: NDArray[np.float64], offsets: NDArray[np.int64], lam: float, backed_up: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """``float64[N, 6]``: targets of all rows of the games ``offsets``, laid out as in ``raccoon.data.selfplay.episodes.Episodes``.

    ``values float64[N, 6]``: ``V`` of every row, ``backed_up float64[N, 6]``: ``B`` (its last row a game is not read), None for
    sampled targets. The last row of each game keeps its value. Targets are distributions: what an exact one has below zero is
    cut off, and the rest scaled to 1.
    """
    targets = values.copy()
    lengths = np.diff(offsets)
    for back in range(1, int(lengths.max(initial=1))):
        row = offsets[1:][lengths > back] - 1 - back
        base = flip(values[row + 1]) if backed_up is None else backed_up[row]
        targets[row] = base + lam * flip(targets[row + 1] - values[row + 1])
    targets = np.maximum(targets, 0.0)
    return targets / targets.sum(axis=1, keepdims=True)

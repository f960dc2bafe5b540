"""The opponent's best static reply to each of the 21 rolls, averaged, for the most promising plays."""

from __future__ import annotations

import numpy as np

from raccoon.contracts import Engine, SearchResult, Turns
from raccoon.env.board import terminal_points
from raccoon.env.movegen import ROLL_PROBS, afterstates_all_rolls
from raccoon.search.lookahead import child_values, enumerate_leaves, leaf_values


class BestReply:
    """GNUBG's 1-ply over the ``keep`` statically best children of each row."""

    def __init__(self, keep: int = 4) -> None:
        self.keep = keep
        self.name = f"my_reply{keep}"

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        static = child_values(turns, engine)
        row = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
        order = np.lexsort((-static.values, row))  # stable: among equals the first child
        full = np.zeros(len(row), bool)
        full[order] = np.arange(len(row)) - turns.offsets[row] < self.keep
        deep = np.flatnonzero(full & (terminal_points(turns.children) == 0))
        values, used = static.values.copy(), static.evaluations
        if len(deep):
            replies, offsets = afterstates_all_rolls(turns.children[deep])
            leaves = enumerate_leaves(replies)
            best = np.maximum.reduceat(leaf_values(leaves, engine), offsets[:-1]).reshape(-1, 21)
            values[deep] = -(best * ROLL_PROBS).sum(axis=1)
            used += len(leaves.boards)
        return SearchResult(values, full, used)

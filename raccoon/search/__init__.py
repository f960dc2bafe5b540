"""Search: from static values to the choice of a play. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.search.expectimax import Expectimax, equities
    from raccoon.search.filters import Filter
    from raccoon.search.lookahead import (
        StaticSearch,
        child_cubeful_values,
        child_values,
        encode_pre_roll,
        enumerate_leaves,
        terminal_value,
    )
    from raccoon.search.mcts.search import MCTS

__all__ = [
    "MCTS",
    "Expectimax",
    "Filter",
    "StaticSearch",
    "child_cubeful_values",
    "child_values",
    "encode_pre_roll",
    "enumerate_leaves",
    "equities",
    "terminal_value",
]

_HOMES = {
    "MCTS": "mcts",
    "Expectimax": "expectimax",
    "Filter": "filters",
    "StaticSearch": "lookahead",
    "child_cubeful_values": "lookahead",
    "child_values": "lookahead",
    "encode_pre_roll": "lookahead",
    "enumerate_leaves": "lookahead",
    "equities": "expectimax",
    "terminal_value": "lookahead",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

"""Search: from static values to the choice of a play."""

from raccoon.search.expectimax import Expectimax, equities
from raccoon.search.filters import Filter
from raccoon.search.lookahead import StaticSearch, child_cubeful_values, child_values, encode_pre_roll, enumerate_leaves, terminal_value

__all__ = [
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

"""Search: from static values to the choice of a play."""

from raccoon.search.lookahead import StaticSearch, child_values, encode_pre_roll, enumerate_leaves, terminal_value

__all__ = ["StaticSearch", "child_values", "encode_pre_roll", "enumerate_leaves", "terminal_value"]

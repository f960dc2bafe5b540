"""The kernels of a chance node with a turned one beside it: which of the two to roll from, and what goes up from both."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

from raccoon.contracts import CubeEquities
from raccoon.cube.choice import beavered, best_of, should_double
from raccoon.env.kernels import kernel
from raccoon.search.mcts.nodes import Nodes

__all__ = ["branch", "decided"]

_beavered, _best_of, _should_double = kernel(beavered), kernel(best_of), kernel(should_double)
"""The rules of ``raccoon.cube.choice``, compiled for numbers."""


@kernel
def _offer(nodes: Nodes, chance: int) -> CubeEquities:
    """No double, double and take, double and pass at a node with a turned one, by all simulations so far."""
    turned = int(nodes.c_turned[chance])
    visits = nodes.c_visits[chance]
    held = nodes.c_value_sum[chance] / visits if visits > 0 else nodes.c_value[chance]
    doubled = nodes.c_stake[turned] * nodes.c_value_sum[turned] / nodes.c_visits[turned]
    return CubeEquities(held, _beavered(doubled, nodes.c_beaver[turned]), nodes.c_pass[turned])


@kernel
def branch(nodes: Nodes, chance: int) -> int:
    """Which of a node and its turned one to roll from: that of the choice that is the better one so far, but every fourth time at least
    the other, so that both become known."""
    turned = int(nodes.c_turned[chance])
    better, other = (turned, chance) if _should_double(_offer(nodes, chance)) else (chance, turned)
    return other if 3 * nodes.c_visits[other] < nodes.c_visits[better] else better


@kernel
def decided(nodes: Nodes, chance: int) -> float:
    """What goes up from a node with a turned one: the change of n times the equity of the best choice, so that sums above stay sums."""
    nodes.c_decided[chance] += 1
    value = nodes.c_decided[chance] * _best_of(_offer(nodes, chance), True) - nodes.c_decided_sum[chance]
    nodes.c_decided_sum[chance] += value
    return value

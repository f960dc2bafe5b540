"""The same tree search written the plain way: Python objects, a cloned OpenSpiel state in every node, one evaluation at a time.

It shares no code with ``raccoon.search.mcts`` beyond the engine, and says whose turn it is by OpenSpiel's player numbers, so it
serves as the reference of the tests and as the yardstick of ``bench_mcts``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from raccoon.env.game_wrapper import chance_action, for_player, view

__all__ = ["Chance", "Decision", "Edge", "Reference"]


@dataclass
class Edge:
    """``actions`` (OpenSpiel's) with one result; ``w`` is the sum of values to the player of the decision it belongs to."""

    actions: list[int]
    ids: list[int]
    prior: float = 0.0
    n: int = 0
    w: float = 0.0
    child: Chance | Decision | None = None


@dataclass
class Decision:
    """A state in which ``player`` (0 or 1) chooses."""

    state: Any
    player: int
    edges: list[Edge] = field(default_factory=list)
    n: int = 0
    w: float = 0.0


@dataclass
class Chance:
    """A state before a roll, or a finished one. ``player`` is the side to roll."""

    state: Any
    player: int
    children: dict[tuple[int, int], Decision] = field(default_factory=dict)
    n: int = 0


class Reference:
    """PUCT with an ``engine``. ``roll()`` gives the dice of every visit to a chance node. ``policy``: priors from the engine's head,
    else uniform. ``merge``: actions with one result share an edge (which clones a state for each action)."""

    def __init__(
        self, engine: Any, roll: Callable[[], tuple[int, int]], c_puct: float = 1.5, policy: bool = False, merge: bool = True
    ) -> None:
        self.engine, self.roll, self.c_puct, self.policy, self.merge = engine, roll, c_puct, policy, merge

    def search(self, state: Any, simulations: int) -> Decision:
        """The root after so many simulations from a decision state."""
        root = Decision(state.clone(), state.current_player())
        self._expand(root)
        for _ in range(simulations):
            self._simulate(root)
        return root

    def _simulate(self, root: Decision) -> None:
        path: list[tuple[Decision, Edge]] = []
        node: Decision | Chance = root
        while True:
            if isinstance(node, Decision):
                if not node.edges:
                    self._expand(node)
                edge = self._select(node)
                path.append((node, edge))
                if edge.child is None:
                    edge.child = self._child(node, edge)
                node = edge.child
                continue
            node.n += 1
            if node.n == 1 or node.state.is_terminal():
                break
            dice = self.roll()
            if dice not in node.children:
                state = node.state.clone()
                state.apply_action(chance_action(dice))
                node.children[dice] = Decision(state, state.current_player())
            node = node.children[dice]
        value = self._value(node)
        for decision, edge in path:
            gain = value if decision.player == node.player else -value
            decision.n, decision.w = decision.n + 1, decision.w + gain
            edge.n, edge.w = edge.n + 1, edge.w + gain

    def _select(self, node: Decision) -> Edge:
        mean = node.w / node.n if node.n else 0.0
        scale = self.c_puct * math.sqrt(1.0 + node.n)
        best, highest = node.edges[0], -math.inf
        for edge in node.edges:
            score = (edge.w / edge.n if edge.n else mean) + scale * edge.prior / (1.0 + edge.n)
            if score > highest:
                best, highest = edge, score
        return best

    def _child(self, node: Decision, edge: Edge) -> Decision | Chance:
        state = node.state.clone()
        state.apply_action(edge.actions[0])
        if not state.is_terminal() and not state.is_chance_node():
            return Decision(state, state.current_player())
        return Chance(state, 1 - node.player)

    def _expand(self, node: Decision) -> None:
        actions = node.state.legal_actions()
        ids = [int(number) for number in for_player(np.array(actions), node.player)]
        groups: dict[Any, Edge] = {}
        for number, action in sorted(zip(ids, actions, strict=True)):
            key = self._result(node, action) if self.merge else number
            edge = groups.setdefault(key, Edge([], []))
            edge.actions.append(action)
            edge.ids.append(number)
        node.edges = list(groups.values())
        if not self.policy:
            for edge in node.edges:
                edge.prior = 1.0 / len(node.edges)
            return
        seen = view(node.state)
        chances = self.engine.policy(seen.board[None], np.array([seen.dice], np.int8), np.array([seen.mid_doubles]))[0]
        for edge in node.edges:
            for number in edge.ids:
                edge.prior += float(chances[number])

    def _result(self, node: Decision, action: int) -> tuple[Any, ...]:
        child = node.state.child(action)
        over = child.is_terminal() or child.is_chance_node()
        return (over, *child.observation_tensor(node.player)[:196])

    def _value(self, node: Chance) -> float:
        """To the side to roll."""
        if node.state.is_terminal():
            return node.state.returns()[node.player] / 3.0
        return float(self.engine.value(view(node.state).board[None])[0])

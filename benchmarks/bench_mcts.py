"""Tree search of many games at a time beside the plain one that clones an OpenSpiel state for every node, with one small network.

Both expand with the policy head and value leaves with the value head. Seconds are processor time of one thread.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.openspiel_mcts import Reference
from raccoon.engine.net import NetEngine
from raccoon.env.encoder import Encoder
from raccoon.env.game_wrapper import random_playout, view
from raccoon.env.movegen import ROLLS
from raccoon.model.backbones.mlp import MLP
from raccoon.model.heads.scalar import Scalar
from raccoon.model.network import RaccoonNet
from raccoon.rng import generator
from raccoon.search.mcts.search import MCTS

__all__ = ["rows"]

_BOUND = 20.0


def rows(games: int = 256, simulations: int = 50, plain: int = 6) -> list[dict[str, Any]]:
    """Simulations a second of ``games`` trees, and how many times those of the plain search (``plain`` of the roots, one by one,
    without merging actions, which would only slow it down); the bound is 20 times."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        engine = NetEngine(RaccoonNet(Encoder(), partial(MLP, hidden=[64]), Scalar, policy=True, seed=1))
        states = list(random_playout(generator(1, "bench mcts")))[:-1]
        picked = [states[index * len(states) // games % len(states)] for index in range(games)]
        ours = _ours(picked, engine, simulations)
        theirs = _plain(picked[:: games // plain], engine, simulations)
    finally:
        torch.set_num_threads(threads)
    ratio = {"path": "mcts, times a clone per node", "measured": ours / theirs, "unit": "times", "bound": _BOUND}
    return [{"path": f"mcts, {games} games", "measured": ours, "unit": "simulations/s", "bound": _BOUND * theirs}, ratio]


def _ours(states: list[Any], engine: NetEngine, simulations: int) -> float:
    views = [view(state) for state in states]
    boards, dice = np.stack([each.board for each in views]), np.array([each.dice for each in views], np.int8)
    mid = np.array([each.mid_doubles for each in views])
    keys = np.arange(len(states)).astype(np.uint64)
    MCTS(2).search(boards[:2], dice[:2], engine, mid[:2], keys[:2])
    search, began = MCTS(simulations), time.process_time()
    search.search(boards, dice, engine, mid, keys)
    return len(states) * simulations / (time.process_time() - began)


def _plain(states: list[Any], engine: NetEngine, simulations: int) -> float:
    random = generator(1, "bench mcts dice")
    outcomes = [(int(low), int(high)) for low, high in ROLLS for _ in range(1 if low == high else 2)]
    search = Reference(engine, lambda: outcomes[int(random.integers(36))], policy=True, merge=False)
    began = time.process_time()
    for state in states:
        search.search(state, simulations)
    return len(states) * simulations / (time.process_time() - began)

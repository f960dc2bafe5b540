"""Expectimax: evaluations a second inside the search beside those of the engine alone on the same boards."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from raccoon.contracts import Boards, Turns
from raccoon.engine.base import EngineBase
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.net import NetEngine
from raccoon.env.movegen import enumerate_turns
from raccoon.eval.benchmark.loader import load
from raccoon.search import Expectimax, Filter

__all__ = ["rows"]

_SHARE = 0.8


class _Recorder(EngineBase):
    """Passes boards on and keeps the batches that it was asked for."""

    def __init__(self, engine: EngineBase) -> None:
        super().__init__(engine.name)
        self.engine, self.batches = engine, list[Boards]()

    def _value(self, live: Boards) -> NDArray[np.floating]:
        self.batches.append(live.copy())
        return self.engine.value(live)


def rows(decisions: int = 24, repeats: int = 5) -> list[dict[str, Any]]:
    """One core: distinct boards a second while searching; the bound is 80% of the engine's own rate on the very same batches."""
    checker = load("embedded").checker
    turns = enumerate_turns(checker.boards[:: len(checker) // decisions], checker.dice[:: len(checker) // decisions])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        searches = {"1-ply": Expectimax(1, Filter("value", 8)), "2-ply": Expectimax(2, Filter("value", 2))}
        few = {"1-ply": turns, "2-ply": enumerate_turns(turns.boards[:3], turns.dice[:3])}
        engines: list[EngineBase] = [NetEngine.load("default"), GnubgEngine(0)]
        return [_row(name, search, few[name], engine, repeats) for engine in engines for name, search in searches.items()]
    finally:
        torch.set_num_threads(threads)


def _row(name: str, search: Expectimax, turns: Turns, engine: EngineBase, repeats: int) -> dict[str, Any]:
    recorder = _Recorder(engine)
    search.values(turns, recorder)
    count = sum(map(len, recorder.batches))
    ours, bare = [], []
    for _ in range(repeats):
        begin = time.process_time()
        search.values(turns, engine)
        middle = time.process_time()
        for batch in recorder.batches:
            engine.value(batch)
        ours.append(middle - begin)
        bare.append(time.process_time() - middle)
    rate = count / statistics.median(bare)
    ratio = statistics.median(b / a for a, b in zip(ours, bare, strict=True))
    return {"path": f"expectimax {name}, {engine.name}", "measured": ratio * rate, "unit": "boards/s", "bound": _SHARE * rate}

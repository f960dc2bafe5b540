"""Labelled positions: label rates beside the bare calls of GNUBG's binding, size of a row, rate of the training loader."""

from __future__ import annotations

import importlib
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.contracts import Boards
from raccoon.data.label_sets.generate import SelfPlayLabels, generate, label, teacher_of
from raccoon.data.label_sets.rows import ROW
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.loader import TrainLoader
from raccoon.data.sampler import RowOrder
from raccoon.executor import ProcessExecutor

_TEACHER = {"_target_": "raccoon.engine.GnubgEngine", "ply": 1, "package": "pruned"}
_PLAYER = {"_target_": "raccoon.play.EnginePlayer", "engine": {**_TEACHER, "ply": 0, "package": "nn"}}
_SLICE = 64
_STEP_SHARE = 0.05
_MLP_ROWS_A_SECOND = 29_000


def rows(games: int = 24, epochs: int = 40) -> list[dict[str, Any]]:
    """Rates of one core: ``path``, ``measured``, ``unit``, ``bound``."""
    inline = ProcessExecutor(0, progress=False)
    with tempfile.TemporaryDirectory() as temporary:
        cheap = generate(_source(_PLAYER["engine"], games), Path(temporary) / "cheap", inline)  # compiles the kernels too
        boards, _ = cheap.gather(np.random.default_rng(1).permutation(len(cheap))[: 40 * _SLICE])
        bare, ours = _label_rates(boards)
        begin = time.process_time()
        whole = generate(_source(_TEACHER, games, seed=2), Path(temporary) / "whole", inline)
        made = len(whole) / (time.process_time() - begin)
        loaded = _loader_rate([cheap] * 20, epochs)
    return [
        {"path": "GNUBG 1-ply labels", "measured": ours, "unit": "rows/s", "bound": 0.9 * bare},
        {"path": "GNUBG 1-ply set, games included", "measured": made, "unit": "rows/s", "bound": 0.9 * bare},
        {"path": "stored positions", "measured": 1024 / ROW.itemsize, "unit": "rows/KiB", "bound": 1024 / 32},
        {"path": "training loader", "measured": loaded, "unit": "rows/s", "bound": _MLP_ROWS_A_SECOND / _STEP_SHARE},
    ]


def _source(teacher: dict[str, Any], games: int, seed: int = 1) -> SelfPlayLabels:
    return SelfPlayLabels(_PLAYER, teacher, games=games, shard_games=games, concurrent=games, seed=seed)


def _label_rates(boards: Boards) -> tuple[float, float]:
    """Bare and our labels a second of processor time, in turns on small slices: GNUBG remembers what it has evaluated."""
    teacher = teacher_of(_TEACHER)
    seconds, done = [0.0, 0.0], [0, 0]
    for at, start in enumerate(range(0, len(boards), _SLICE)):
        part = boards[start : start + _SLICE]
        which = at % 2
        given = part.tolist()
        begin = time.process_time()
        if which:
            label(teacher, part)
        else:
            _bare(given)
        seconds[which] += time.process_time() - begin
        done[which] += len(part)
    return done[0] / seconds[0], done[1] / seconds[1]


def _bare(boards: list[Any]) -> None:
    gnubg = importlib.import_module("gnubg")
    cube = dict(gnubg.cube_info(1, -1, 0, 0, (0, 0), 0, 0)) | {"jacoby": 0, "gammonprice": ((1.0, 1.0), (1.0, 1.0))}
    context = gnubg.eval_context(0, 1, 1, 1, 0.0)
    for board in boards:
        gnubg.evaluate(board, cube, context)


def _loader_rate(stores: list[PositionStore], epochs: int) -> float:
    """Rows a second of processor time from file to tensor, without reading ahead."""
    order = RowOrder(stores, seed=1, holdout=0.02, held_limit=10_000)
    loader = TrainLoader(order, batch_size=512, prefetch=0)
    next(iter(loader))
    begin, count = time.process_time(), 0
    for epoch in range(epochs):
        order.set_epoch(epoch)
        count += sum(len(batch[0]) for batch in loader)
    return count / (time.process_time() - begin)

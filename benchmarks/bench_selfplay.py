"""Self-play of ``trainer=td``: whole games with their states kept, and exact 21-roll backups, against the network's own speed;
and whole epochs with actors beside the learner, against epochs that play first.

Seconds are processor time of one thread, so that other work on the machine matters little; those of epochs cannot be.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.timed import TimedEngine
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import plain
from raccoon.contracts import Boards
from raccoon.data.selfplay.episodes import EpisodeRecorder
from raccoon.engine.net import NetEngine
from raccoon.env.encoder import Encoder
from raccoon.env.lookup import unique_boards
from raccoon.model import Outcomes6, RaccoonNet, ResNet
from raccoon.play.match import play_games
from raccoon.play.player import EnginePlayer
from raccoon.rng import generator
from raccoon.runs.folder import Run
from raccoon.search.expectimax import Tree
from raccoon.train.objectives.td_targets import backups
from raccoon.train.run import train

__all__ = ["rows"]

_ROLLS = 40  # untrained networks play on for ever: a game here is so many rolls
_OVERHEAD = 1.4
_PRUNED_GAIN = 2.0
_ACTORS = 2
_AHEAD_GAIN = 1.1
_EPOCHS, _WARM = 5, 2  # the processes start in the first ones


def rows(games: int = 256, boards: int = 256) -> list[dict[str, Any]]:
    """``path``, ``measured``, ``unit``, ``bound``: of one core; bounds are the network's time with the overhead allowed for."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        engine = TimedEngine(RaccoonNet(Encoder(), partial(ResNet, blocks=2, channels=32), Outcomes6).eval())
        recorder = EpisodeRecorder()
        played = _play(engine, games, recorder)
        episodes = recorder.episodes()
        states = episodes.boards[episodes.rolled]
        states = states[unique_boards(states)[0]]
        picked = states[generator(1, "benchmark backups").permutation(len(states))[:boards]]
        return [played, *_backups(engine, picked), _ahead()]
    finally:
        torch.set_num_threads(threads)


def _play(engine: TimedEngine, games: int, recorder: EpisodeRecorder) -> dict[str, Any]:
    player = EnginePlayer(engine)
    play_games((player, player), np.arange(4), 1, turn_cap=4)  # compiles the kernels
    seconds, network = _timed(engine, lambda: play_games((player, player), np.arange(games), 1, observers=[recorder], turn_cap=_ROLLS))
    return {
        "path": f"self-play, {games} games of {_ROLLS} rolls, resnet2x32",
        "measured": games / seconds,
        "unit": "games/s",
        "bound": games / (_OVERHEAD * network),
    }


def _backups(engine: TimedEngine, boards: Boards) -> list[dict[str, Any]]:
    pruner = NetEngine.load("prune")
    backups(boards[:2], Tree(engine, prune=pruner))
    seconds, network = _timed(engine, lambda: backups(boards, Tree(engine)))
    pruned, _ = _timed(engine, lambda: backups(boards, Tree(engine, prune=pruner)))
    full = {"path": "exact backups, resnet2x32", "measured": len(boards) / seconds, "bound": len(boards) / (_OVERHEAD * network)}
    fast = {
        "path": "exact backups, 5 replies by the prune net",
        "measured": len(boards) / pruned,
        "bound": _PRUNED_GAIN * len(boards) / seconds,
    }
    return [row | {"unit": "backups/s"} for row in (full, fast)]


def _timed(engine: TimedEngine, run: Callable[[], Any]) -> tuple[float, float]:
    """Processor seconds of ``run``, and those of the network within them."""
    engine.seconds, began = 0.0, time.process_time()
    run()
    return time.process_time() - began, engine.seconds


def _ahead(games: int = 192) -> dict[str, Any]:
    """Games an epoch over its seconds, training included: with actors, and (the bound) one after the other."""
    lock_step = _epoch_seconds(games, [])
    ahead = _epoch_seconds(games, ["data.ahead=true", f"data.actors={_ACTORS}", "data.actor_games=48"])
    return {
        "path": f"epochs of trainer=td, {_ACTORS} actors ahead v lock step",
        "measured": games / ahead,
        "unit": "games/s",
        "bound": _AHEAD_GAIN * games / lock_step,
    }


def _epoch_seconds(games: int, more: list[str]) -> float:
    """Median seconds of an epoch whose learner has one thread."""
    small = ["trainer=td", "model=resnet2x32", "callbacks=none", "final.vr_arena=null", "final.bgsage_pr=null", "data.batches=40"]
    small += [f"trainer.max_epochs={_EPOCHS}", f"data.games={games}", f"data.turn_cap={_ROLLS}", "executor.progress=false"]
    with tempfile.TemporaryDirectory() as folder:
        config = plain(compose("train", [*small, *more, f"paths.run_dir={folder}"]))
        train(config, Run(Path(folder), "train", False, config))
        with open(Path(folder) / "metrics.csv", encoding="utf-8") as file:
            seconds = [float(row["seconds"]) for row in csv.DictReader(file)]
    return float(np.median(seconds[_WARM:]))

"""Static play of 256 games beside the time of the network alone, and the variance-reduced arena.

Seconds are processor time of one thread, so that other work on the machine matters little.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.timed import TimedEngine
from raccoon.env.encoder import Encoder
from raccoon.eval.arena.games import MatchPlan, match_shard
from raccoon.model import RaccoonNet, build_net, checkpoint_file
from raccoon.play.match import play_games
from raccoon.play.player import EnginePlayer

_MODEL = {
    "_target_": "raccoon.model.RaccoonNet",
    "backbone": {"_target_": "raccoon.model.ResNet", "_partial_": True, "blocks": 2, "channels": 32},
    "head": {"_target_": "raccoon.model.Outcomes6", "_partial_": True},
    "policy": False,
}
_GNUBG = {"_target_": "raccoon.play.EnginePlayer", "engine": {"_target_": "raccoon.engine.GnubgEngine"}}
_OVERHEAD = 1.2
_ARENA_GAMES_PER_SECOND = 12.0


def rows(games: int = 256, arena_games: int = 48) -> list[dict[str, Any]]:
    """``path``, ``measured``, ``unit``, ``bound``: decisions a second of one core, games a second of two."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        net = build_net(_MODEL, Encoder())
        return [_static_play(net, games), _arena(net, arena_games)]
    finally:
        torch.set_num_threads(threads)


def _static_play(net: RaccoonNet, games: int) -> dict[str, Any]:
    player = EnginePlayer(TimedEngine(net))
    play_games((player, player), np.arange(4), 1)  # compiles the kernels
    player = EnginePlayer(engine := TimedEngine(net))
    began = time.process_time()
    result = play_games((player, player), np.arange(games), 1, turn_cap=60)
    seconds = time.process_time() - began
    decisions = int(result.rolls.sum())
    return {
        "path": "static play, 256 games, resnet2x32",
        "measured": decisions / seconds,
        "unit": "decisions/s",
        "bound": decisions / (_OVERHEAD * engine.seconds),
    }


def _arena(net: RaccoonNet, games: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.pt"
        checkpoint_file.save(path, net, {})
        player = {
            "_target_": "raccoon.play.EnginePlayer",
            "engine": {"_target_": "raccoon.engine.NetEngine.load", "path": str(path)},
        }
        job = {"player": player, "opponent": _GNUBG, "seed": 3, "plan": vars(MatchPlan(games))}
        began = time.process_time()
        match_shard(job, 0)
        seconds = time.process_time() - began
    return {
        "path": "VR arena, resnet2x32 v GNUBG 0-ply, luck on",
        "measured": 2 * games / seconds,
        "unit": "games/s on 2 cores",
        "bound": _ARENA_GAMES_PER_SECOND,
    }

"""Start-up: ``--help`` within a second, the first move of a player within five (kernel caches warm)."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

__all__ = ["rows"]

_HELP = "import sys; sys.argv = ['train.py', '--help']; from raccoon.cli.train import main; main()"
_MOVE = """
from raccoon.config.instantiate import build
from raccoon.env.board import START
from raccoon.env.movegen import enumerate_turns
from raccoon.model import build_net
from raccoon.env.encoder import Encoder
from raccoon.engine.net import NetEngine
from raccoon.play.player import EnginePlayer

node = {"_target_": "raccoon.model.RaccoonNet",
        "backbone": {"_target_": "raccoon.model.ResNet", "_partial_": True, "blocks": 2, "channels": 32},
        "head": {"_target_": "raccoon.model.Outcomes6", "_partial_": True}}
EnginePlayer(NetEngine(build_net(node, Encoder()))).choose(enumerate_turns(START[None], [[3, 1]]))
"""


def rows(repeats: int = 3) -> list[dict[str, Any]]:
    """Starts a second, the best of ``repeats`` (what else the machine does is not start-up time)."""
    return [
        {"path": "train.py --help", "measured": 1 / _seconds(_HELP, repeats), "unit": "starts/s", "bound": 1.0},
        {"path": "first move of a player", "measured": 1 / _seconds(_MOVE, repeats), "unit": "starts/s", "bound": 0.2},
    ]


def _seconds(code: str, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - began)
    return best

"""What the network engine adds to the bare forward pass: validation, deduplication, encoding, padding."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from raccoon.contracts import Boards
from raccoon.engine.net import NetEngine
from raccoon.env.encoder import Encoder
from raccoon.model import MLP, Outcomes6, RaccoonNet, ResNet
from raccoon.testing import sample_boards

__all__ = ["distinct_boards", "rates", "rows"]

_NETS: dict[str, tuple[Any, int]] = {
    "resnet2x32": (partial(ResNet, blocks=2, channels=32), 2048),
    "resnet4x64": (partial(ResNet, blocks=4, channels=64), 512),
    "mlp_small": (partial(MLP, hidden=[256, 128]), 4096),
}


def rows() -> list[dict[str, Any]]:
    """Engine evaluations per second of one core; the bound is 80% of the eager network on inputs encoded beforehand."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_row(name, backbone, batch) for name, (backbone, batch) in _NETS.items()]
    finally:
        torch.set_num_threads(threads)


def _row(name: str, backbone: Any, batch: int) -> dict[str, Any]:
    boards = distinct_boards(batch)
    net = RaccoonNet(Encoder(), backbone, Outcomes6).eval()
    engine = NetEngine(net)
    x = net.prepare(boards)
    with torch.inference_mode():
        bare, ours = rates([lambda: net.value_equity(x), lambda: engine.value(boards)], batch)
    return {"path": f"net engine, {name} ({batch} rows)", "measured": ours, "unit": "boards/s", "bound": 0.8 * bare}


def distinct_boards(count: int) -> Boards:
    """Distinct positions, so that deduplication saves nothing."""
    return np.ascontiguousarray(np.unique(sample_boards(2 * count), axis=0)[:count])


def rates(runs: list[Callable[[], Any]], count: int) -> list[float]:
    """Rows per second of each call, interleaved, best of 8 (CPU time of this process: the machine may be shared)."""
    best = [float("inf")] * len(runs)
    for _ in range(8):
        for k, run in enumerate(runs):
            begin = time.process_time()
            run()
            best[k] = min(best[k], time.process_time() - begin)
    return [count / seconds for seconds in best]

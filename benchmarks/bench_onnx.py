"""Exported networks beside torch: evaluations a second of one core, the largest difference, PR before and after.

Beside them what PR the default net has with random errors of its values, to tell from which size on errors move it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.bench_net import distinct_boards, rates
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.engine.net import NetEngine
from raccoon.engine.network.onnx import OnnxEngine
from raccoon.env import ragged
from raccoon.eval.benchmark.loader import EMBEDDED, load
from raccoon.eval.pr.checker_scoring import PR_SCALE
from raccoon.export import PRECISIONS, export_onnx
from raccoon.model import build_net, checkpoint_file

__all__ = ["noise_rows", "rows"]

_ROWS = 2048
_NOISE = (0.0001, 0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01)
"""Standard deviations of errors, in points."""


def rows() -> list[dict[str, Any]]:
    """A row a network and precision: the default net, and an untrained small ResNet."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory(prefix="raccoon-") as folder:
            small = Path(folder) / "resnet2x32.pt"
            cfg = compose("train", ["model=resnet2x32"])
            checkpoint_file.save(small, build_net(plain(cfg.model), build(cfg.encoder)), {})
            return [row for source in ("default", str(small)) for row in _rows(source, Path(folder))]
    finally:
        torch.set_num_threads(threads)


def _rows(source: str, folder: Path) -> list[dict[str, Any]]:
    boards, ours = distinct_boards(_ROWS), NetEngine.load(source)
    found = []
    for precision in PRECISIONS:
        target = folder / f"{Path(source).stem}_{precision}.onnx"
        meta = export_onnx(source, target, precision)
        theirs = OnnxEngine(target)
        torch_rate, onnx_rate = rates([lambda: ours.value(boards), lambda engine=theirs: engine.value(boards)], len(boards))
        off = np.abs(ours.value(boards) - theirs.value(boards))
        found.append({
            "network": Path(source).stem,
            "precision": precision,
            "bytes": meta["bytes"],
            "torch evaluations/s": round(torch_rate),
            "onnx evaluations/s": round(onnx_rate),
            "largest difference": max(meta["verified"]["largest_difference"].values()),
            "RMS difference of equity, points": 3 * float(np.sqrt(np.mean(np.square(off)))),
            "PR before": meta["pr"]["before"],
            "PR after": meta["pr"]["after"],
        })  # fmt: skip
    return found


def noise_rows(draws: int = 400, seed: int = 1) -> list[dict[str, Any]]:
    """PR of the default net's static play with normal errors on its equities: mean and SD over ``draws``, and how many of them
    stay the same to two decimals."""
    checker = load(EMBEDDED).checker
    points = -3 * NetEngine.load("default").value(checker.children).astype(np.float64)
    best = np.maximum.reduceat(checker.cubeless, checker.offsets[:-1])
    rng = np.random.default_rng(seed)

    def pr(values: NDArray[np.float64]) -> float:
        chosen = ragged.argmax(values, checker.offsets)
        return PR_SCALE * float((best - checker.cubeless[chosen]).mean())

    plain, found = pr(points), []
    for sd in _NOISE:
        noisy = np.array([pr(points + rng.normal(0.0, sd, len(points))) for _ in range(draws)])
        found.append({
            "SD of errors, points": sd,
            "PR without": plain,
            "PR": float(noisy.mean()),
            "SD of PR": float(noisy.std()),
            "within .005": float((abs(noisy - plain) < 0.005).mean()),
        })  # fmt: skip
    return found


if __name__ == "__main__":
    for row in (*rows(), *noise_rows()):
        print(row, flush=True)

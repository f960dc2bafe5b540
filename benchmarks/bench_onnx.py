"""Exported networks beside torch: evaluations a second of one core, the largest difference, PR before and after."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.bench_net import distinct_boards, rates
from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.engine.net import NetEngine
from raccoon.engine.network.onnx import OnnxEngine
from raccoon.export import PRECISIONS, export_onnx
from raccoon.model import build_net, checkpoint_file

__all__ = ["rows"]

_ROWS = 2048


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
            "mean difference of equity, points": 3 * float(off.mean()),
            "PR before": meta["pr"]["before"],
            "PR after": meta["pr"]["after"],
        })  # fmt: skip
    return found


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)

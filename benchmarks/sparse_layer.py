"""Does it pay to add only the rows of inputs that are not zero? The first layer as dense product, sparse sum and integer accumulator.

``python -m benchmarks.sparse_layer`` prints how many inputs of ``encoder=tactics`` are not zero on the candidates of the embedded
benchmark and how many differ from the first candidate of the decision; the time of a first layer of several widths; and evaluations a
second of the engine with a dense and a sparse first layer. One thread, processor time, best of 8 interleaved.

A sparse sum adds in the order of the inputs, so a row's bits do not depend on its neighbours. Sums of floats that start from a
sibling's would; the accumulator here has 16-bit weights and inputs in steps of 1/64, whose sums are exact.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numba as nb
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.bench_net import rates
from raccoon.contracts import Boards
from raccoon.engine.net import NetEngine
from raccoon.eval.benchmark.decisions import CheckerDecisions
from raccoon.eval.benchmark.loader import EMBEDDED, load
from raccoon.model import MLP, Outcomes6, RaccoonNet

__all__ = ["engine_rows", "input_figures", "layer_rows"]

_ROWS = 4096
_WIDTHS = (256, 512, 1024, 2048)
_HIDDEN = ([512, 512, 256, 256], [256, 128], [512, 32, 32], [1024, 32, 32], [2048, 32, 32])
_STEPS, _WEIGHT = 64, 8192  # an input of 1 and a weight of 1 as integers


@nb.njit(fastmath={"contract", "nsz"}, cache=True)
def _sparse(x: Any, weights: Any, bias: Any, out: Any) -> None:
    """``out = relu(x weights + bias)``; ``weights [F, H]``. Eight inputs that are not zero at a time, in order."""
    width = x.shape[1]
    where, by = np.zeros(width + 8, np.int64), np.zeros(width + 8, np.float32)
    for i in range(len(x)):
        count = 0
        for k in range(width):
            where[count], by[count] = k, x[i, k]
            count += x[i, k] != np.float32(0)
        while count % 8:
            where[count], by[count] = 0, 0
            count += 1
        row = out[i]
        row[:] = bias
        for k in range(0, count, 8):
            v0, v1, v2, v3, v4, v5, v6, v7 = by[k], by[k + 1], by[k + 2], by[k + 3], by[k + 4], by[k + 5], by[k + 6], by[k + 7]
            w0, w1, w2, w3 = weights[where[k]], weights[where[k + 1]], weights[where[k + 2]], weights[where[k + 3]]
            w4, w5, w6, w7 = weights[where[k + 4]], weights[where[k + 5]], weights[where[k + 6]], weights[where[k + 7]]
            for j in range(len(row)):
                total = row[j] + v0 * w0[j]
                total += v1 * w1[j]
                total += v2 * w2[j]
                total += v3 * w3[j]
                total += v4 * w4[j]
                total += v5 * w5[j]
                total += v6 * w6[j]
                row[j] = total + v7 * w7[j]
        for j in range(len(row)):
            row[j] = max(row[j], np.float32(0))


@nb.njit(cache=True)
def _accumulated(x: Any, weights: Any, bias: Any, out: Any) -> None:
    """The same with integers, each row from the one before: ``weights int16[F, H]``. Four inputs that differ at a time."""
    width = x.shape[1]
    where, by = np.zeros(width + 4, np.int64), np.zeros(width + 4, np.int32)
    before = np.zeros(width, np.float32)
    sums = np.zeros(out.shape[1], np.int32)
    scale = np.float32(1 / (_STEPS * _WEIGHT))
    for i in range(len(x)):
        count = 0
        for k in range(width):
            if x[i, k] != before[k]:
                where[count], by[count] = k, np.int32(np.rint(x[i, k] * _STEPS) - np.rint(before[k] * _STEPS))
                count += 1
                before[k] = x[i, k]
        while count % 4:
            where[count], by[count] = 0, 0
            count += 1
        for k in range(0, count, 4):
            v0, v1, v2, v3 = by[k], by[k + 1], by[k + 2], by[k + 3]
            w0, w1, w2, w3 = weights[where[k]], weights[where[k + 1]], weights[where[k + 2]], weights[where[k + 3]]
            for j in range(len(sums)):
                sums[j] += v0 * np.int32(w0[j]) + v1 * np.int32(w1[j]) + v2 * np.int32(w2[j]) + v3 * np.int32(w3[j])
        for j in range(len(sums)):
            out[i, j] = max(np.float32(sums[j]) * scale + bias[j], np.float32(0))


def input_figures(checker: CheckerDecisions) -> dict[str, float]:
    """Of the inputs of a candidate: how many there are, are not zero, and differ from the first candidate of the decision (others only)."""
    x = NetEngine.load("default").encoder.encode_flat(checker.children)
    first = checker.offsets[:-1][checker.rows_of_candidates()]
    others = np.arange(len(x)) != first
    return {
        "candidates": len(x),
        "inputs": x.shape[1],
        "not zero": float((x != 0).sum(1).mean()),
        "differ from the first candidate": float((x != x[first]).sum(1)[others].mean()),
        "differ from the candidate before": float((x[1:] != x[:-1]).sum(1)[others[1:]].mean()),
    }


def layer_rows(boards: Boards) -> list[dict[str, Any]]:
    """Microseconds a board of the first layer, a row a width: dense in 32 and 16 bits, sparse, accumulated; siblings in a row."""
    x = torch.from_numpy(NetEngine.load("default").encoder.encode_flat(boards))
    found = []
    for width in _WIDTHS:
        weights = torch.from_numpy(np.random.default_rng(1).normal(0, 0.05, (width, x.shape[1])).astype(np.float32))
        bias = torch.zeros(width)
        rows = weights.numpy().T.copy()
        short = np.rint(rows * _WEIGHT).astype(np.int16)
        half = (x.bfloat16(), weights.bfloat16(), bias.bfloat16())
        out, exact = np.empty((len(x), width), np.float32), np.empty((len(x), width), np.float32)
        runs = [
            lambda weights=weights, bias=bias: F.linear(x, weights, bias).relu_(),
            lambda half=half: F.linear(*half).relu_(),
            lambda rows=rows, bias=bias, out=out: _sparse(x.numpy(), rows, bias.numpy(), out),
            lambda short=short, bias=bias, exact=exact: _accumulated(x.numpy(), short, bias.numpy(), exact),
        ]
        dense = runs[0]().numpy()
        times = [1e6 / rate for rate in rates(runs, len(x))]
        found.append({
            "width": width,
            **dict(zip(("dense, us", "bf16 dense, us", "sparse, us", "accumulator, us"), times, strict=True)),
            "sparse off by": float(abs(out - dense).max()),
            "accumulator off by": float(abs(exact - dense).max()),
        })  # fmt: skip
    return found


class _Adding(nn.Module):
    """A linear layer and its ReLU by ``kernel``: ``_sparse``, or ``_accumulated`` with ``weights`` of 16 bits."""

    def __init__(self, kernel: Any, weights: NDArray[Any], bias: NDArray[np.float32]) -> None:
        super().__init__()
        self._kernel, self._weights, self._bias = kernel, weights, bias

    def forward(self, x: Tensor) -> Tensor:
        out = np.empty((len(x), self._weights.shape[1]), np.float32)
        self._kernel(x.numpy(), self._weights, self._bias, out)
        return torch.from_numpy(out)


def engine_rows(boards: Boards) -> list[dict[str, Any]]:
    """Evaluations a second of the engine, encoding included, on distinct ``boards``, siblings one after the other: a row a network, by the
    kind of its first layer."""
    found = []
    for hidden in _HIDDEN:
        net = RaccoonNet(NetEngine.load("default").encoder, partial(MLP, hidden=hidden), Outcomes6).eval()
        engines = [NetEngine(net), NetEngine(net), NetEngine(net), NetEngine(net, "bf16")]
        first = cast(nn.Linear, cast(MLP, engines[0].net.backbone).layers[0])
        rows, bias = first.weight.detach().numpy().T.copy(), first.bias.detach().numpy()
        cast(MLP, engines[1].net.backbone).layers[0] = _Adding(_sparse, rows, bias)
        cast(MLP, engines[2].net.backbone).layers[0] = _Adding(_accumulated, np.rint(rows * _WEIGHT).astype(np.int16), bias)
        off = [float(abs(engine.value(boards) - engines[0].value(boards)).max()) for engine in engines]
        dense, sparse, sums, half = rates([partial(engine.value, boards) for engine in engines], len(boards))
        found.append({
            "hidden": hidden,
            "dense": round(dense),
            "sparse": round(sparse),
            "sparse / dense": sparse / dense,
            "sparse off by": off[1],
            "accumulator": round(sums),
            "accumulator / dense": sums / dense,
            "accumulator off by": off[2],
            "bf16 dense": round(half),
            "bf16 dense off by": off[3],
        })  # fmt: skip
    return found


def main() -> None:
    """Print all three."""
    torch.set_num_threads(1)
    checker = load(EMBEDDED).checker
    _, first = np.unique(checker.children, axis=0, return_index=True)
    boards = np.ascontiguousarray(checker.children[np.sort(first)][:_ROWS])
    for row in (input_figures(checker), *layer_rows(boards), *engine_rows(boards)):
        print({key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()}, flush=True)


if __name__ == "__main__":
    main()

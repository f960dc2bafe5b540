"""A network as an ONNX graph, with weights of 32, 16 or 8 bits."""

from __future__ import annotations

import contextlib
import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from torch import Tensor, nn

from raccoon.contracts import Boards
from raccoon.engine.network.onnx import LAYOUT_KEY
from raccoon.model import RaccoonNet

__all__ = ["INPUT", "OPSET", "PRECISIONS", "graph_of"]

OPSET = 17
PRECISIONS = ("fp32", "fp16", "int8")
INPUT = "x"
_BATCH = 256


def graph_of(net: RaccoonNet, policy: bool, precision: str, calibration: Boards) -> onnx.ModelProto:
    """The graph: input ``x`` as ``net.prepare`` gives it, any number of rows; outputs ``equity [N]`` (points / 3), ``probs6 [N, 6]`` where
    the head has them and ``policy [N, 1352]`` (logits).

    ``precision``: ``fp32``; ``fp16`` stores weights in 16 bits and computes in 32; ``int8`` computes the inner layers in 8 bits, their
    ranges being those of the ``calibration`` boards, so that a row's numbers do not depend on its batch.
    """
    model = _traced(net.folded(), policy)
    if precision == "fp16":
        model = _half(model)
    if precision == "int8":
        model = _quantised(model, net, calibration)
    helper.set_model_props(model, {LAYOUT_KEY: net.encoder.layout_hash})
    model.producer_name, model.producer_version, model.doc_string = "raccoon", "", ""
    onnx.checker.check_model(model)
    return model


class _Outputs(nn.Module):
    """What the graph computes, as a tuple of tensors."""

    def __init__(self, net: RaccoonNet, policy: bool) -> None:
        super().__init__()
        self.net, self.policy = net, policy

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        found = self.net(x)
        probs = [] if found.log_probs6 is None else [found.log_probs6.exp()]
        return (found.value, *probs, *([found.policy] if self.policy else []))


def _traced(net: RaccoonNet, policy: bool) -> onnx.ModelProto:
    names = ["equity", *(["probs6"] if net.has_probs else []), *(["policy"] if policy else [])]
    x = net.prepare(np.zeros((2, 2, 25), np.int8))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="raccoon-") as folder:
        # torch's other exporter needs a further package; the tracer minds a check of the input's shape, which holds for every batch
        warnings.simplefilter("ignore")
        target = Path(folder) / "net.onnx"
        torch.onnx.export(
            _Outputs(net, policy),
            (x,),
            target,
            dynamo=False,
            opset_version=OPSET,
            input_names=[INPUT],
            output_names=names,
            dynamic_axes={name: {0: "n"} for name in (INPUT, *names)},
        )
        return onnx.load(target)


def _half(model: onnx.ModelProto) -> onnx.ModelProto:
    """Matrices and kernels as float16 and a cast each; biases stay as they are."""
    graph, casts = model.graph, []
    for weight in list(graph.initializer):
        values = numpy_helper.to_array(weight)
        if weight.data_type != TensorProto.FLOAT or values.ndim < 2:
            continue
        half = numpy_helper.from_array(values.astype(np.float16), f"{weight.name}.half")
        casts.append(helper.make_node("Cast", [half.name], [weight.name], to=TensorProto.FLOAT, name=f"{weight.name}.cast"))
        graph.initializer.remove(weight)
        graph.initializer.append(half)
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Within: no advice from onnxruntime, which is about other kinds of networks."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


class _Calibration(CalibrationDataReader):
    """Inputs in batches, once."""

    def __init__(self, net: RaccoonNet, boards: Boards) -> None:
        self._parts: Iterator[Boards] = iter(np.array_split(boards, max(1, len(boards) // _BATCH)))
        self._net = net

    def get_next(self) -> dict[str, NDArray[np.float32]] | Any:
        """The next batch; None at the end."""
        boards = next(self._parts, None)
        return None if boards is None else {INPUT: self._net.prepare(boards).numpy()}


def _quantised(model: onnx.ModelProto, net: RaccoonNet, calibration: Boards) -> onnx.ModelProto:
    """Weights of the inner layers in 8 bits; the layers that read the position and that give the value stay as they are.

    Seven bits of a weight are used: products of eight do not fit the sums of processors without VNNI, which would saturate silently.
    """
    kept = [node.name for node in model.graph.node if INPUT in node.input or any(".head." in name for name in node.input)]
    with tempfile.TemporaryDirectory(prefix="raccoon-") as folder, _quiet():
        target = Path(folder) / "int8.onnx"
        quantize_static(
            model,
            target,
            _Calibration(net, calibration),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["Gemm", "MatMul", "Conv"],
            nodes_to_exclude=kept,
        )
        return onnx.load(target)

"""FLOPs against a closed form, and what a training says of the time that it will take."""

from __future__ import annotations

import json
import logging
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model import build_net
from raccoon.runs.folder import Run
from raccoon.train.flops import flops_of, minutes_of
from raccoon.train.run import train

OUTCOMES = {"_target_": "raccoon.model.Outcomes6", "_partial_": True}


def net_of(policy: Any, **backbone: Any) -> Any:
    node = {"_target_": "raccoon.model.RaccoonNet", "backbone": {**backbone, "_partial_": True}, "head": OUTCOMES, "policy": policy}
    return build_net(node, Encoder())


def test_fully_connected_networks_cost_two_operations_a_weight() -> None:
    net = net_of({"hidden": [7]}, _target_="raccoon.model.MLP", hidden=[32, 16])
    flat = net.encoder.flat_size
    trunk, own = [2 * a * b for a, b in pairwise((flat, 32, 16, 6))], [2 * a * b for a, b in pairwise((flat, 7, 1352))]
    # back: the gradient of the weights costs as much, and so does that of a layer's inputs, but for the first one's
    for layers, asked in ((trunk, {"value": True}), (own, {"value": False, "policy": True})):
        assert flops_of(net, **asked) == (sum(layers), 3 * sum(layers) - layers[0])
    both = flops_of(net, value=True, policy=True)
    assert both == (sum(trunk) + sum(own), 3 * sum(trunk + own) - trunk[0] - own[0])


def test_convolutions_cost_two_operations_a_weight_and_cell() -> None:
    net = net_of(False, _target_="raccoon.model.ResNet", blocks=1, channels=8)
    cells, first = 24, 2 * 9 * net.encoder.n_channels * 8 * 24
    others = [2 * 9 * 8 * 8 * cells] * 2 + [2 * 8 * cells, 2 * cells * 256, 2 * 256 * 6]
    assert flops_of(net) == (first + sum(others), 2 * first + 3 * sum(others))


def test_frozen_weights_cost_no_way_back() -> None:
    net = net_of(True, _target_="raccoon.model.MLP", hidden=[32, 16])
    for part in (net.backbone, net.head):
        part.requires_grad_(False)
    forward, training = flops_of(net, value=False, policy=True)
    assert training == forward + 2 * 16 * 1352
    assert minutes_of(6e15, 100.0) == 1.0


def test_a_training_tells_what_it_expects_and_reports_what_it_took(make_config: Any, tmp_path: Path, caplog: Any) -> None:
    config = make_config(max_epochs=2)
    config["runtime"]["tflops"] = 1e-6
    caplog.set_level(logging.INFO)
    train(config, Run(tmp_path, "train", False, config))
    (row,) = json.loads((tmp_path / "report.json").read_text())["tables"]["expected and actual"]
    assert row["rows trained on"] == row["rows planned"] > 0
    assert row["TFLOP in all"] == pytest.approx(row["rows planned"] * row["MFLOP a row, training"] / 1e6)
    assert row["minutes expected"] == pytest.approx(row["TFLOP in all"] / 1e-6 / 60)
    assert row["TFLOP/s"] == pytest.approx(row["TFLOP in all"] / row["minutes of epochs"] / 60, rel=1e-3)
    assert "expected and actual" in (tmp_path / "report.md").read_text()
    told = [line for line in caplog.messages if "MFLOP to train on" in line]
    assert len(told) == 1
    assert re.fullmatch(r"[\d,]+ rows of .* of them forward\), .* TFLOP in all: about .* at runtime.tflops=1e-06", told[0])


def test_what_is_no_speed_is_refused(make_config: Any, tmp_path: Path) -> None:
    config = make_config(max_epochs=1)
    config["runtime"]["tflops"] = 0
    with pytest.raises(RaccoonError, match=r"runtime\.tflops=0: give TFLOP/s of one device"):
        train(config, Run(tmp_path, "train", False, config))

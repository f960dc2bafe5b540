"""The model and encoder groups as typed on the command line."""

from __future__ import annotations

import pytest

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.env.encoder import Encoder
from raccoon.model import RaccoonNet, build_net
from raccoon.testing import check_encoder, check_model


def network(*overrides: str) -> RaccoonNet:
    cfg = compose("train", list(overrides))
    return build_net(plain(cfg.model), build(cfg.encoder))


@pytest.mark.parametrize(
    ("option", "millions"),
    [("resnet2x32", 0.119), ("resnet4x64", 0.385), ("resnet6x128", 1.877), ("resnet10x256", 11.942), ("mlp", 0.917), ("mlp_small", 0.262)],
)
def test_sizes(option: str, millions: float) -> None:
    net = network(f"model={option}")
    assert sum(p.numel() for p in net.parameters()) / 1e6 == pytest.approx(millions, abs=0.0006)
    assert net.has_probs


def test_head_and_policy_overrides() -> None:
    for head, has_probs in (("scalar", False), ("outcomes6", True)):
        net = network("model=mlp_small", f"model/head={head}", "model.policy=false")
        assert net.has_probs == has_probs
        assert net.policy is None


@pytest.mark.parametrize(
    ("overrides", "groups"),
    [
        (["encoder=all"], ("pip", "blots", "anchors", "contact")),
        (["encoder=base"], ()),
        (["encoder/feature=[pip,blots]"], ("pip", "blots")),
        (["encoder/feature=[]"], ()),
        (["encoder=base", "encoder/feature=contact"], ("contact",)),
        (["encoder=base", "encoder.features.pip=true"], ("pip",)),
        (["encoder=base", "encoder/feature=[pip,blots]", "encoder.features.pip=false"], ("blots",)),
        (["encoder.features.pip=false"], ("blots", "anchors", "contact")),
    ],
)
def test_encoder_overrides(overrides: list[str], groups: tuple[str, ...]) -> None:
    encoder = build(compose("train", overrides).encoder)
    assert isinstance(encoder, Encoder)
    assert encoder.groups == groups
    check_encoder(encoder)


@pytest.mark.parametrize("option", ["resnet2x32", "mlp_small"])
@pytest.mark.parametrize("head", ["scalar", "outcomes6"])
def test_networks_conform(option: str, head: str) -> None:
    check_model(network(f"model={option}", f"model/head={head}"))

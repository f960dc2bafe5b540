"""A network from its plain config node, for training runs and checkpoints alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raccoon.build import build
from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model.network import RaccoonNet

__all__ = ["build_net"]


def build_net(model_cfg: Mapping[str, Any], encoder: Encoder, seed: int = 0) -> RaccoonNet:
    """The network of ``model_cfg`` (a node of the ``model`` group, or ``RaccoonNet.config``), weights from ``seed``.

    Raises RaccoonError naming the key when the node does not describe a network.
    """
    net = build(model_cfg, "model", encoder=encoder, seed=seed)
    if not isinstance(net, RaccoonNet):
        raise RaccoonError(f"model._target_={model_cfg.get('_target_')}: gives a {type(net).__name__}, not a RaccoonNet")
    return net

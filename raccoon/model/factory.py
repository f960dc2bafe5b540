"""A network from its plain config node, for training runs and checkpoints alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from raccoon.checks import bounded
from raccoon.config.instantiate import build
from raccoon.config.targets import locate
from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model.backbones.base import Backbone
from raccoon.model.heads.base import ValueHead
from raccoon.model.network import RaccoonNet

__all__ = ["MOST_PARAMETERS", "build_net", "outline"]

MOST_PARAMETERS = 1_000_000_000
"""Weights of the largest network that is built: 4 GB."""
_PARTS = (RaccoonNet, Backbone, ValueHead)


def build_net(model_cfg: Mapping[str, Any], encoder: Encoder, seed: int = 0) -> RaccoonNet:
    """The network of ``model_cfg`` (a node of the ``model`` group, or ``RaccoonNet.config``), weights from ``seed``.

    Raises RaccoonError naming the key when the node does not describe a network, or a larger one than ``MOST_PARAMETERS``.
    """
    outline(model_cfg, encoder)
    return build(model_cfg, "model", RaccoonNet, encoder=encoder, seed=seed)


def outline(model_cfg: Mapping[str, Any], encoder: Encoder) -> RaccoonNet:
    """The network of ``model_cfg`` on the meta device: every name, shape and type, no memory. Raises RaccoonError as ``build_net``."""
    bounded(model_cfg, "model")
    for path, target in _targets(model_cfg, "model"):
        found = locate(target, path)
        if not (isinstance(found, type) and issubclass(found, _PARTS)):
            raise RaccoonError(f"{path}._target_={target}: is no network, backbone or value head, and a network is made of nothing else")
    try:
        with torch.device("meta"):
            net = build(model_cfg, "model", RaccoonNet, encoder=encoder)
    except (RuntimeError, OverflowError) as error:
        raise RaccoonError(f"model: cannot be built ({' '.join(str(error).split()):.160})") from error
    size = sum(weights.numel() for weights in net.parameters())
    if size > MOST_PARAMETERS:
        raise RaccoonError(f"model: cannot be built, it has {size:,} weights; {MOST_PARAMETERS:,} is the most")
    return net


def _targets(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every target in ``value`` with its key path, those of nodes that stay nodes included."""
    if isinstance(value, Mapping):
        if "_target_" in value:
            yield path, value["_target_"]
        for key, inner in value.items():
            yield from _targets(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _targets(inner, f"{path}[{index}]")

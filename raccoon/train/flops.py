"""How much arithmetic a network takes, and how long a training is expected to take on a device of a given speed."""

from __future__ import annotations

import copy
from typing import NamedTuple

import torch
from torch.utils.flop_counter import FlopCounterMode

from raccoon.model import RaccoonNet

__all__ = ["Flops", "flops_of", "minutes_of"]


class Flops(NamedTuple):
    """Floating-point operations of one row, a multiplication and an addition being two: of a ``forward`` pass, and of a step of
    ``training``, which is that pass and the one back."""

    forward: float
    training: float


def flops_of(net: RaccoonNet, value: bool = True, policy: bool = False) -> Flops:
    """What a row costs ``net``, with the heads that are asked for, counted by torch on a copy without memory.

    Matrix products and convolutions count; what goes number by number (activations, normalisation, losses, encoding, the optimiser)
    does not. Frozen weights have no gradient to compute. A row of both heads is a board and a decision.
    """
    twin = copy.deepcopy(net).to("meta")
    x = torch.zeros((1, *net.input_shape), device="meta")

    def outputs() -> torch.Tensor:
        found = [twin.value_raw(x).sum()] if value else []
        return torch.stack([*found, *([twin.policy_logits(x).sum()] if policy else [])]).sum()

    with torch.no_grad(), FlopCounterMode(display=False) as forward:
        outputs()
    with FlopCounterMode(display=False) as training:
        outputs().backward()
    return Flops(float(forward.get_total_flops()), float(training.get_total_flops()))


def minutes_of(flops: float, tflops: float) -> float:
    """Minutes that ``flops`` operations take at ``tflops`` TFLOP/s (1e12 operations a second), sustained."""
    return flops / (tflops * 1e12) / 60

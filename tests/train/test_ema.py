"""The average against its recursion written out, buffers included."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from raccoon.contracts import RaccoonError
from raccoon.train.ema import Ema, decay_at


def small() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


def scramble(net: nn.Module, generator: torch.Generator) -> None:
    with torch.no_grad():
        for tensor in [*net.parameters(), *net.buffers()]:
            if tensor.is_floating_point():
                tensor.copy_(torch.randn(tensor.shape, generator=generator))
            else:
                tensor += 1


def test_recursion():
    net, generator = small(), torch.Generator().manual_seed(1)
    ema = Ema(net, decay=0.9)
    expected: dict[str, torch.Tensor] = {}
    for update in range(200):
        scramble(net, generator)
        ema.update(net)
        decay = decay_at(update, 0.9)
        for key, value in net.state_dict().items():
            if update == 0 or not value.is_floating_point():
                expected[key] = value.clone()
            else:
                expected[key] = decay * expected[key] + (1 - decay) * value
    for key, value in ema.net.state_dict().items():
        assert torch.allclose(value, expected[key], atol=1e-5), key


def test_decay_warms_up_to_its_value():
    assert decay_at(1, 0.999) == pytest.approx(2 / 11)
    assert decay_at(10**6, 0.999) == 0.999
    assert all(decay_at(n, 0.99) <= decay_at(n + 1, 0.99) for n in range(1, 2000))


def test_state_goes_round():
    net, generator = small(), torch.Generator().manual_seed(2)
    first, second = Ema(net, 0.99), Ema(small(), 0.99)
    for _ in range(3):
        scramble(net, generator)
        first.update(net)
    second.load_state_dict(first.state_dict())
    scramble(net, generator)
    first.update(net)
    second.update(net)
    for a, b in zip(first.net.state_dict().values(), second.net.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_the_average_is_frozen_and_in_evaluation_mode():
    ema = Ema(small(), 0.9)
    assert not ema.net.training
    assert not any(parameter.requires_grad for parameter in ema.net.parameters())


@pytest.mark.parametrize("decay", [1.0, -0.1, float("nan")])
def test_bad_decay_is_named(decay):
    with pytest.raises(RaccoonError, match=r"trainer\.ema_decay"):
        Ema(small(), decay)

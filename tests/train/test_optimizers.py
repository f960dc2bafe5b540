"""MuonAdam: torch's own Muon and Adam step for step, and a state that goes on."""

from __future__ import annotations

import copy

import torch
from torch import nn

from raccoon.train.optimizers import MuonAdam


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 6))


def train(net: nn.Sequential, optimizers: list[torch.optim.Optimizer], steps: range) -> None:
    for step in steps:
        x = torch.randn(256, 40, generator=torch.Generator().manual_seed(step))
        for optimizer in optimizers:
            optimizer.zero_grad()
        (net(x) - x[:, :6].abs()).square().mean().backward()
        for optimizer in optimizers:
            optimizer.step()


def test_steps_are_those_of_torch() -> None:
    ours, theirs = network(), network()
    matrices = [p for p in theirs.parameters() if p.ndim == 2 and len(p) == 64]
    others = [p for p in theirs.parameters() if p.ndim == 1 or len(p) == 6]
    muon = torch.optim.Muon(matrices, lr=0.01, weight_decay=0.0, momentum=0.95, adjust_lr_fn="match_rms_adamw")
    train(ours, [MuonAdam(ours.parameters(), lr=0.01)], range(5))
    train(theirs, [muon, torch.optim.AdamW(others, lr=0.01, weight_decay=0.0)], range(5))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_a_schedule_reaches_both_and_the_state_goes_on() -> None:
    net, other = network(), network()
    optimizer = MuonAdam(net.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    train(net, [optimizer], range(3))
    schedule.step()
    assert [group["lr"] for group in optimizer.param_groups] == [0.005, 0.005]
    other.load_state_dict(net.state_dict())
    again = MuonAdam(other.parameters(), lr=1.0)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert [group["lr"] for group in again.param_groups] == [0.005, 0.005]
    train(net, [optimizer], range(3, 6))
    train(other, [again], range(3, 6))
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)

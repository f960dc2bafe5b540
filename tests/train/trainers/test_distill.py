"""Settings that are refused, and what the module leaves alone."""

from __future__ import annotations

import math

import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.train.trainers.distill import Distillation


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lr", 0.0),
        ("lr", -1e-3),
        ("lr", math.nan),
        ("lr", "fast"),
        ("betas", (0.9,)),
        ("betas", (0.9, 1.0)),
        ("schedule", "cosin"),
        ("warmup_steps", -1),
        ("equity_weight", -1.0),
        ("ema_decay", 1.0),
        ("gradient_clip_val", 0.0),
        ("max_epochs", 0),
        ("max_epochs", 2.5),
        ("max_epochs", None),
        ("max_minutes", 0),
        ("max_minutes", 1e300),
        ("checkpoint_minutes", 1e300),
        ("checkpoint_minutes", -1),
        ("objective", "six"),
    ],
)
def test_bad_settings_are_named(make_net, key, value):
    with pytest.raises(RaccoonError, match=rf"trainer\.{key}="):
        Distillation(make_net(), **{key: value})


def test_an_objective_that_the_head_cannot_train_names_both_keys(make_net):
    with pytest.raises(RaccoonError, match=r"trainer\.objective=both.*model/head=outcomes6"):
        Distillation(make_net("scalar"), objective="both")


def test_the_policy_head_is_left_alone(make_net):
    net = make_net(policy=True)
    assert net.policy is not None
    module = Distillation(net)
    assert not any(parameter.requires_grad for parameter in net.policy.parameters())
    assert any(parameter.requires_grad for parameter in module.parameters())


def test_the_average_is_no_part_of_the_module(make_net):
    module = Distillation(make_net(), ema_decay=0.9)
    assert all(key.startswith("net.") for key in module.state_dict())


def test_best_net_is_the_average_where_there_is_one(make_net):
    net = make_net()
    assert Distillation(net, ema_decay=None).best_net is net
    average = Distillation(net, ema_decay=0.9).best_net
    assert average is not net
    assert all(torch.equal(a, b) for a, b in zip(average.state_dict().values(), net.state_dict().values(), strict=True))

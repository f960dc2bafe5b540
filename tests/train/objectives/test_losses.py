"""Losses and targets against closed forms, scipy and finite differences."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
import torch

from raccoon.contracts import RaccoonError
from raccoon.train.objectives.losses import outcome_cross_entropy, outcome_entropy, resolve_objective, value_losses, value_mse
from raccoon.train.objectives.targets import equity_value


def test_equity_of_the_six_sure_outcomes():
    assert torch.allclose(equity_value(torch.eye(6)) * 3, torch.tensor([1.0, 2, 3, -1, -2, -3]))


def test_equity_of_a_mixture_by_hand():
    # six from cumulative five (.6, .2, .05, .1, .02): equity +.33 points
    probs = torch.tensor([[0.40, 0.15, 0.05, 0.30, 0.08, 0.02]])
    assert equity_value(probs).item() * 3 == pytest.approx(0.33, abs=1e-6)


def test_equity_turns_its_sign_with_the_sides():
    probs = torch.rand(9, 6).softmax(1)
    assert torch.allclose(equity_value(probs[:, [3, 4, 5, 0, 1, 2]]), -equity_value(probs), atol=1e-7)


def test_cross_entropy_is_entropy_plus_divergence():
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.ones(6), 50), rng.dirichlet(np.ones(6), 50)
    target, log_q = torch.from_numpy(p), torch.from_numpy(np.log(q))
    entropy = np.mean([scipy.stats.entropy(row) for row in p])
    divergence = np.mean([scipy.stats.entropy(a, b) for a, b in zip(p, q, strict=True)])
    assert outcome_entropy(target).item() == pytest.approx(entropy, abs=1e-12)
    assert outcome_cross_entropy(log_q, target).item() == pytest.approx(entropy + divergence, abs=1e-12)


def test_entropy_of_a_sure_outcome_is_zero():
    assert outcome_entropy(torch.eye(6)).item() == 0.0


def test_mse():
    assert value_mse(torch.tensor([0.5, -0.5]), torch.tensor([0.0, 0.5])).item() == pytest.approx(0.625)


@pytest.mark.parametrize("objective", ["equity", "outcomes", "both"])
def test_objectives_of_an_outcome_head(make_net, positions, objective):
    net = make_net("outcomes6").eval()
    boards, probs6 = positions
    x = net.prepare(boards.numpy())
    with torch.no_grad():
        losses = value_losses(net, x, probs6, objective, equity_weight=2.5)
        mse = value_mse(net.value_equity(x), equity_value(probs6)).item()
        ce = outcome_cross_entropy(net.value_log_probs6(x), probs6).item()
    assert losses.mse.item() == pytest.approx(mse, rel=1e-6)
    assert losses.total.item() == pytest.approx({"equity": mse, "outcomes": ce, "both": ce + 2.5 * mse}[objective], rel=1e-6)


def test_a_scalar_head_regresses_equity(make_net, positions):
    net = make_net("scalar").eval()
    boards, probs6 = positions
    with torch.no_grad():
        losses = value_losses(net, net.prepare(boards.numpy()), probs6, "equity", 1.0)
    assert losses.cross_entropy is None
    assert losses.total.item() == pytest.approx(losses.mse.item())
    assert losses.value.shape == (len(boards),)


def test_gradient_agrees_with_finite_differences(make_net, positions):
    net = make_net("outcomes6").double().eval()
    boards, probs6 = positions[0][:16], positions[1][:16]
    x = net.prepare(boards.numpy()).double()
    weight = net.head.output.bias
    value_losses(net, x, probs6, "both", 3.0).total.backward()
    assert weight.grad is not None
    step = 1e-3
    for index in (0, 5):
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                weight[index] += sign * step
                ends.append(value_losses(net, x, probs6, "both", 3.0).total.item())
                weight[index] -= sign * step
        assert weight.grad[index].item() == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-4)


def test_the_objective_follows_the_head():
    assert resolve_objective("auto", has_probs=True) == "both"
    assert resolve_objective("auto", has_probs=False) == "equity"
    assert resolve_objective("equity", has_probs=True) == "equity"


@pytest.mark.parametrize("objective", ["outcomes", "both"])
def test_a_scalar_head_refuses_outcome_objectives(objective):
    with pytest.raises(RaccoonError, match=rf"trainer\.objective={objective}.*model/head"):
        resolve_objective(objective, has_probs=False)


def test_an_unknown_objective_is_named():
    with pytest.raises(RaccoonError, match=r"trainer\.objective=sixes.*outcomes"):
        resolve_objective("sixes", has_probs=True)


def test_labels_that_are_certain_give_finite_losses(make_net, positions):
    net = make_net("outcomes6")
    boards = positions[0][:6]
    losses = value_losses(net, net.prepare(boards.numpy()), torch.eye(6), "both", 1.0)
    assert math.isfinite(losses.total.item())


def test_pure_parts_import_no_lightning():
    code = (
        "import sys, raccoon.train.objectives.losses, raccoon.train.objectives.targets, raccoon.train.schedules, raccoon.train.ema;"
        "sys.exit('lightning' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

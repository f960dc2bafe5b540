"""Policy losses against sums written out in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from raccoon.train.objectives.policy_losses import policy_cross_entropy, policy_entropy, policy_hits


@pytest.fixture
def case() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Three rows with 40 legal actions each; four entries, the last unused (it names an illegal action)."""
    rng = np.random.default_rng(1)
    logits, mask = rng.normal(0, 3, (3, 1352)), np.zeros((3, 1352), bool)
    ids, shares = np.zeros((3, 4), np.int64), rng.random((3, 4))
    for row in range(3):
        legal = 1 + rng.choice(1351, 40, replace=False)
        mask[row, legal] = True
        ids[row, :3] = legal[:3]
    shares[:, 3] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)
    return torch.from_numpy(logits), torch.from_numpy(mask), torch.from_numpy(ids), torch.from_numpy(shares)


def test_cross_entropy_and_entropy_written_out(case) -> None:
    logits, mask, ids, shares = (part.numpy() for part in case)
    total, entropy = 0.0, 0.0
    for row in range(3):
        norm = np.log(np.exp(logits[row][mask[row]]).sum())
        for action, share in zip(ids[row], shares[row], strict=True):
            if share:
                total -= share * (logits[row, action] - norm)
                entropy -= share * np.log(share)
    assert float(policy_cross_entropy(*case)) == pytest.approx(total / 3, rel=1e-5)
    assert float(policy_entropy(case[3])) == pytest.approx(entropy / 3, rel=1e-6)


def test_the_gradient_is_the_difference_of_policy_and_target(case) -> None:
    logits, mask, ids, shares = case
    logits.requires_grad_(True)
    policy_cross_entropy(logits, mask, ids, shares).backward()
    assert logits.grad is not None
    policy = torch.softmax(logits.detach().masked_fill(~mask, -torch.inf), dim=1)
    target = torch.zeros_like(policy).scatter_add(1, ids, shares)
    torch.testing.assert_close(logits.grad, (policy - target) / 3, rtol=1e-4, atol=1e-7)


def test_hits(case) -> None:
    logits, mask, ids, shares = case
    best = ids.gather(1, shares.argmax(dim=1, keepdim=True))
    logits = logits.scatter(1, best[:2], 50.0)
    logits[2, 0] = 60.0  # illegal, so it counts for nothing
    assert policy_hits(logits, mask, ids, shares).tolist()[:2] == [True, True]
    logits[1, ids[1, shares[1, :3].argmin()]] = 99.0
    assert policy_hits(logits, mask, ids, shares).tolist()[:2] == [True, False]


def test_a_share_on_an_illegal_action_costs_infinitely_much(case) -> None:
    logits, mask, ids, shares = case
    mask[0, ids[0, 0]] = False
    assert policy_cross_entropy(logits, mask, ids, shares) == torch.inf

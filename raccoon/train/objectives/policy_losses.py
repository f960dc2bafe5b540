"""Losses of the policy head against sparse targets, pure functions. No Lightning here.

Several actions may have the same result. A target puts the share of a result on its lowest action; its other actions are legal,
stand in the softmax and have no share, so that training moves their probability to the lowest one. What a network says of a result
is the sum over its actions (``raccoon.search.priors``): at the optimum that is the share of the target.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["policy_cross_entropy", "policy_entropy", "policy_hits"]


def policy_cross_entropy(logits: Tensor, mask: Tensor, ids: Tensor, shares: Tensor) -> Tensor:
    """Mean cross-entropy in nats over the legal actions, ``mask bool[N, 1352]``, of ``logits [N, 1352]`` against targets that give
    ``shares float[N, K]`` to the actions ``ids int64[N, K]``; entries with share 0 are unused.

    Infinite for a share on an illegal action.
    """
    log_probs = logits.float().masked_fill(~mask, float("-inf")).log_softmax(dim=1)
    used = shares > 0
    # an unused entry names an action that may be illegal: 0 times minus infinity must not arise
    picked = log_probs.gather(1, ids).masked_fill(~used, 0.0)
    return -(shares * picked).sum(dim=1).mean()


def policy_entropy(shares: Tensor) -> Tensor:
    """Mean entropy in nats of ``shares float[N, K]``: the least that ``policy_cross_entropy`` can reach."""
    return -torch.special.xlogy(shares, shares).sum(dim=1).mean()


def policy_hits(logits: Tensor, mask: Tensor, ids: Tensor, shares: Tensor) -> Tensor:
    """``bool[N]``: is the most likely legal action the one with the largest share? (One of them, where several have it.)"""
    best = logits.float().masked_fill(~mask, float("-inf")).argmax(dim=1, keepdim=True)
    largest = shares == shares.max(dim=1, keepdim=True).values
    return ((ids == best) & largest).any(dim=1)

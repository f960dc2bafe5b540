"""Loss functions of value training, pure functions of network outputs and targets. No Lightning here."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from raccoon.contracts import RaccoonError
from raccoon.model.network import RaccoonNet
from raccoon.train.objectives.targets import equity_value

__all__ = [
    "OBJECTIVES",
    "Losses",
    "outcome_cross_entropy",
    "outcome_entropy",
    "raw_losses",
    "resolve_objective",
    "sibling_mse",
    "value_losses",
    "value_mse",
]

OBJECTIVES = ("auto", "equity", "outcomes", "both")
_FORMER = {"scalar": "equity", "outcomes6": "outcomes"}  # in configs of earlier versions


@dataclass(frozen=True)
class Losses:
    """Losses of one batch: ``total`` is what training minimises; ``mse`` on the value scale; ``cross_entropy`` in nats
    (None for a scalar head); ``value float[N]`` the predicted equity / 3."""

    total: Tensor
    mse: Tensor
    cross_entropy: Tensor | None
    value: Tensor


def value_mse(value: Tensor, target: Tensor) -> Tensor:
    """Mean squared error of ``value float[N]`` against ``target float[N]``, both equity / 3."""
    return (value - target).square().mean()


def sibling_mse(value: Tensor, target: Tensor, siblings: Tensor) -> Tensor:
    """Mean squared error of the differences between plays of one turn, which decide which of them is made.

    ``value``, ``target float[N]``, both equity / 3; ``siblings int64[N]``: equal numbers for plays of one turn, 0 to at most N - 1.
    The error of a play is taken less the mean error of its turn: an error that all of them share costs nothing, and a play that is
    alone has none.
    """
    error = value - target
    sums, counts = torch.zeros_like(error), torch.zeros_like(error)
    sums = sums.index_add(0, siblings, error)
    counts = counts.index_add(0, siblings, torch.ones_like(error))
    return (error - (sums / counts.clamp_min(1))[siblings]).square().mean()


def outcome_cross_entropy(log_probs6: Tensor, target: Tensor) -> Tensor:
    """Mean cross-entropy in nats of ``log_probs6 float[N, 6]`` against the distribution ``target float[N, 6]``."""
    return -(target * log_probs6).sum(dim=1).mean()


def outcome_entropy(target: Tensor) -> Tensor:
    """Mean entropy in nats of ``target float[N, 6]``: the least that ``outcome_cross_entropy`` can reach."""
    return -torch.special.xlogy(target, target).sum(dim=1).mean()


def resolve_objective(objective: str, has_probs: bool) -> str:
    """What is minimised, ``equity``, ``outcomes`` or ``both``: ``auto`` is ``both`` for a head that knows the outcomes, else ``equity``.

    The names of earlier versions, ``scalar`` and ``outcomes6``, are understood. Raises RaccoonError for an unknown objective and for one
    that the head cannot train.
    """
    objective = _FORMER.get(objective, objective)
    if objective not in OBJECTIVES:
        raise RaccoonError(f"trainer.objective={objective}: give one of {', '.join(OBJECTIVES)}")
    if objective == "auto":
        return "both" if has_probs else "equity"
    if objective != "equity" and not has_probs:
        advice = "choose model/head=outcomes6 or trainer.objective=equity"
        raise RaccoonError(f"trainer.objective={objective} needs outcomes but model/head is scalar: {advice}")
    return objective


def value_losses(net: RaccoonNet, x: Tensor, target_probs6: Tensor, objective: str, equity_weight: float) -> Losses:
    """Losses of ``net`` on its prepared input ``x`` against outcome distributions ``target_probs6 float[N, 6]``.

    ``equity``: MSE on equity / 3 through ``value_equity``, whatever the head; ``outcomes``: cross-entropy;
    ``both``: cross-entropy + ``equity_weight`` times that MSE. One forward pass in every case.
    """
    return raw_losses(net, net.value_raw(x), target_probs6, objective, equity_weight)


def raw_losses(net: RaccoonNet, raw: Tensor, target_probs6: Tensor, objective: str, equity_weight: float) -> Losses:
    """``value_losses`` of raw numbers ``[N, width]`` that the value head of ``net`` has given already."""
    target, raw = target_probs6.float(), raw.float()
    value = net.head.equity(raw)
    mse = value_mse(value, equity_value(target))
    if not net.has_probs:
        return Losses(mse, mse, None, value)
    cross_entropy = outcome_cross_entropy(net.head.log_probs6(raw), target)
    if objective == "equity":
        return Losses(mse, mse, cross_entropy, value)
    total = cross_entropy if objective == "outcomes" else cross_entropy + equity_weight * mse
    return Losses(total, mse, cross_entropy, value)

"""Optimisers that ``torch.optim`` does not have as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ["MuonAdam"]

_LEAST = 32  # a matrix with a smaller side is a head or a gate, and Adam's


class MuonAdam(torch.optim.Optimizer):
    """Muon for the hidden matrices, Adam for biases, heads and convolutions, under one learning rate and one schedule.

    Muon (``torch.optim.Muon``) makes the momentum of a matrix orthogonal before it steps; its steps are scaled to the size of
    Adam's (``match_rms_adamw``), so that ``lr`` means the same for both. The fully connected networks here need several times
    fewer steps with it. ``params``: weights, or groups of them with a ``weight_decay`` of their own. ``momentum``: Muon's; ``betas``,
    ``fused``: Adam's; ``weight_decay`` is decoupled.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 0.003,
        betas: Sequence[float] = (0.9, 0.999),
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})
        matrices, others = _split(self.param_groups, matrix=True), _split(self.param_groups, matrix=False)
        self._parts: list[torch.optim.Optimizer] = []
        if matrices:
            self._parts.append(torch.optim.Muon(matrices, lr=lr, momentum=momentum, adjust_lr_fn="match_rms_adamw"))
        if others:
            self._parts.append(torch.optim.AdamW(others, lr=lr, betas=(betas[0], betas[1]), fused=fused))
        self._share_groups()

    def _share_groups(self) -> None:
        """The groups of the parts are the groups of this one: a schedule that writes here writes there."""
        self.param_groups = [group for part in self._parts for group in part.param_groups]

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step of both; gives what ``closure`` gives."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for part in self._parts:
            part.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The states of the parts."""
        return {"parts": [part.state_dict() for part in self._parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from ``state_dict``."""
        for part, state in zip(self._parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self._share_groups()


def _split(groups: list[dict[str, Any]], matrix: bool) -> list[dict[str, Any]]:
    """The hidden matrices of each group, or all that is not one; groups of none are left out."""
    chosen = [
        {"params": [p for p in group["params"] if _is_matrix(p) == matrix], "weight_decay": group["weight_decay"]} for group in groups
    ]
    return [group for group in chosen if group["params"]]


def _is_matrix(weights: Tensor) -> bool:
    return weights.ndim == 2 and min(weights.shape) >= _LEAST

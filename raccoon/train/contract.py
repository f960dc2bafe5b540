"""What ``raccoon.train.run`` asks of a trainer, and what a trainer asks of its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import lightning.pytorch as pl
from torch import Tensor

from raccoon.contracts import RaccoonError
from raccoon.data.contract import DATA_FOR, TRAINER_FOR, Kind, declared_data
from raccoon.model import RaccoonNet

__all__ = ["TrainerModule", "check_pair", "declare", "network_of"]


@runtime_checkable
class TrainerModule(Protocol):
    """A LightningModule that trains a network.

    ``net``: what is trained; ``best_net``: what is validated and plays. ``needs``: the kind of batches. ``monitor``: the logged figure
    whose minimum is exported; None: ``val/pr``, or ``monitor_without_pr`` where the callback ``pr`` is missing (None: the last epoch).
    The run ends after ``max_epochs``, or earlier after ``max_minutes``; ``checkpoint_minutes``: how often to save within an epoch
    (None: never). ``gradient_clip_val``: largest gradient norm (None: none). ``meta``: plain facts for the checkpoint's header.
    """

    net: RaccoonNet
    needs: Kind
    monitor: str | None
    monitor_without_pr: str | None
    max_epochs: int
    max_minutes: float | None
    checkpoint_minutes: float | None
    gradient_clip_val: float | None
    meta: dict[str, Any]

    @property
    def best_net(self) -> RaccoonNet:
        """What is validated, exported and plays."""
        ...

    def epoch_figures(self) -> Mapping[str, Tensor]:
        """What the batches of the epoch were like so far; logged at its end."""
        ...


def declare(module: Any) -> TrainerModule:
    """``module`` as a ``TrainerModule``: what one that was written for an earlier version does not say is filled in.

    Raises RaccoonError naming what is missing and cannot be filled in.
    """
    decisions, labels = getattr(module, "decisions", False), hasattr(module, "label")
    needs = {(False, False): "positions", (True, False): "decisions", (False, True): "games", (True, True): "searched_games"}
    filled: dict[str, Any] = {"needs": needs[bool(decisions), labels], "monitor": None, "monitor_without_pr": "val/mse", "meta": {}}
    filled |= {"epoch_figures": dict, "gradient_clip_val": getattr(module, "gradient_clip", None)}
    for name, value in filled.items():
        if not hasattr(module, name):
            setattr(module, name, value)
    for name in ("net", "best_net", "max_epochs", "max_minutes", "checkpoint_minutes"):
        if not hasattr(module, name):
            raise RaccoonError(f"trainer: {type(module).__name__} has no {name}; see raccoon.train.contract.TrainerModule")
    return module


def check_pair(module: TrainerModule, data: Any) -> None:
    """Raise RaccoonError for data that the trainer cannot learn from, before any of it is made."""
    gives, holdout = declared_data(data)
    if holdout == 0:
        raise RaccoonError("data.holdout=0: the best epoch is chosen on held-out games; give a share above 0")
    if gives is not None and gives != module.needs:
        what = f"gives {gives}, and {type(module).__name__} learns from {module.needs}".replace("_", " ")
        raise RaccoonError(f"data: {what}; choose {DATA_FOR[module.needs]}, or {TRAINER_FOR[gives]}")


def network_of(module: pl.LightningModule, key: str) -> RaccoonNet:
    """The ``best_net`` of the trainer ``module``; RaccoonError naming ``key``, which asks for it, when there is none."""
    net = getattr(module, "best_net", None)
    if not isinstance(net, RaccoonNet):
        raise RaccoonError(f"{key}: {type(module).__name__} has no best_net to play with")
    return net

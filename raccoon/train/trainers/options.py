"""Options that trainers share: their names and types, and what is refused. No Lightning here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.train.schedules import SCHEDULES

__all__ = ["JointOptions", "ValueOptions", "check_options"]


class ValueOptions(TypedDict, total=False):
    """The options of ``raccoon.train.trainers.base.ValueTrainer``, which explains them and has their defaults."""

    objective: str
    lr: float
    optimizer: Callable[..., Any] | None
    betas: Sequence[float]
    schedule: str
    warmup_steps: int
    equity_weight: float
    sibling_weight: float
    ema_decay: float | None
    gradient_clip_val: float | None
    max_epochs: int
    max_minutes: float | None
    checkpoint_minutes: float | None


class JointOptions(ValueOptions, total=False):
    """The options of ``raccoon.train.trainers.joint.JointTrainer``."""

    policy_weight: float
    value_weight: float
    weight_decay: float
    train: str


_Rule = tuple[Callable[[Any], bool], str]
_POSITIVE: _Rule = (lambda value: 0 < value < math.inf, "a number above 0")
_POSITIVE_OR_NULL: _Rule = (lambda value: value is None or 0 < value < math.inf, "a number above 0, or null")
_MINUTES: _Rule = (lambda value: value is None or 0 < value <= 1e6, "a number above 0, at most a million, or null")
_RULES: dict[str, _Rule] = {
    "lr": _POSITIVE,
    "betas": (lambda value: len(value) == 2 and all(0 <= beta < 1 for beta in value), "two numbers in [0, 1)"),
    "schedule": (lambda value: value in SCHEDULES, f"one of {', '.join(SCHEDULES)}"),
    "warmup_steps": (lambda value: isinstance(value, int) and value >= 0, "an integer of 0 or more"),
    "equity_weight": (lambda value: 0 <= value < math.inf, "a number of 0 or more"),
    "sibling_weight": (lambda value: 0 <= value < math.inf, "a number of 0 or more"),
    "gradient_clip_val": _POSITIVE_OR_NULL,
    "max_epochs": (lambda value: isinstance(value, int) and value >= 1, "an integer of 1 or more"),
    "max_minutes": _MINUTES,
    "checkpoint_minutes": _MINUTES,
}


def check_options(options: Mapping[str, Any]) -> None:
    """Raise RaccoonError naming the key of a bad value among the shared options in ``options``; other names are left alone."""
    for key, (good, advice) in _RULES.items():
        if key not in options:
            continue
        try:
            fine = good(options[key])
        except TypeError:
            fine = False
        if not fine:
            raise RaccoonError(f"trainer.{key}={quoted(options[key])}: give {advice}")

"""``trainer=distill``: regress the value head against stored evaluations."""

from __future__ import annotations

from raccoon.train.trainers.base import ValueTrainer

__all__ = ["Distillation"]


class Distillation(ValueTrainer):
    """A ``ValueTrainer`` on labelled positions that exist, such as those of ``data=demo`` or ``data=wildbg``."""

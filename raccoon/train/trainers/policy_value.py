"""``trainer=policy``: both heads of one network, from stored values and decisions."""

from __future__ import annotations

from raccoon.train.trainers.joint import JointTrainer

__all__ = ["PolicyValue"]


class PolicyValue(JointTrainer):
    """A ``JointTrainer`` on sets of decisions that exist, such as those of ``data=policy``."""

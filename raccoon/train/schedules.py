"""Learning rate schedules as pure functions of the step. No Lightning here."""

from __future__ import annotations

import math

__all__ = ["SCHEDULES", "lr_factor"]

SCHEDULES = ("cosine", "constant")


def lr_factor(step: int, *, kind: str, total: int, warmup: int = 0) -> float:
    """Factor on the base learning rate at optimiser step ``step`` (0-based) of ``total``.

    Linear warm-up over the first ``warmup`` steps, then ``constant`` (1) or ``cosine``, which reaches 0 at step
    ``total``: half a cosine, the annealing of SGDR without restarts (Loshchilov & Hutter 2017).
    """
    if step < warmup:
        return (step + 1) / (warmup + 1)
    if kind == "constant":
        return 1.0
    progress = min(1.0, (step - warmup) / max(1, total - warmup))
    return 0.5 * (1.0 + math.cos(math.pi * progress))

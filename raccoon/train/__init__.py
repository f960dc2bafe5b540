"""Training: pure targets, losses, schedules and averages; thin Lightning shells over them; ``run.train`` puts a run together.

``losses``, ``targets``, ``schedules`` and ``ema`` import no Lightning. Names are imported on first use, so that importing this
package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.train.callbacks.benchmark_pr import BenchmarkPR
    from raccoon.train.ema import Ema
    from raccoon.train.objectives.losses import Losses, outcome_cross_entropy, value_losses, value_mse
    from raccoon.train.objectives.targets import equity_value
    from raccoon.train.run import train
    from raccoon.train.schedules import lr_factor
    from raccoon.train.trainers.distill import Distillation

__all__ = [
    "BenchmarkPR",
    "Distillation",
    "Ema",
    "Losses",
    "equity_value",
    "lr_factor",
    "outcome_cross_entropy",
    "train",
    "value_losses",
    "value_mse",
]

_HOMES = {
    "BenchmarkPR": "callbacks",
    "Distillation": "distill",
    "Ema": "ema",
    "Losses": "losses",
    "equity_value": "targets",
    "lr_factor": "schedules",
    "outcome_cross_entropy": "losses",
    "train": "run",
    "value_losses": "losses",
    "value_mse": "losses",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

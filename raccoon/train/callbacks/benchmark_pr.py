"""Callbacks of the ``callbacks`` group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback

from raccoon.contracts import Engine, RaccoonError
from raccoon.eval.benchmark.loader import CHOOSING, SHIPPED, load
from raccoon.train.contract import network_of

if TYPE_CHECKING:
    from raccoon.eval.benchmark.decisions import CheckerDecisions

__all__ = ["BenchmarkPR"]


class BenchmarkPR(Callback):
    """Logs ``val/pr``: the PR of the network's static play on a money benchmark, after the validation of every ``every``-th epoch.

    ``benchmark``: ``choosing``, ``embedded`` or the path of a benchmark file. What epochs are chosen by is best not what they are reported
    on. A path is read at once, before any label is made, so that a bad one
    costs nothing. The first epoch is scored as well, and the last one, also where a time budget ends the run early. The others
    carry the last score, so that none of them becomes the best. The averaged weights are scored where there are any.
    """

    def __init__(self, benchmark: str = CHOOSING, every: int = 1) -> None:
        if every < 1:
            raise RaccoonError(f"callbacks.pr.every={every}: give 1 or more")
        self.benchmark = benchmark
        self.every = every
        self._decisions: CheckerDecisions | None = None
        self._last = float("inf")
        if benchmark not in SHIPPED:
            self._load()

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Load the benchmark once."""
        if self._decisions is None:
            self._load()

    def _load(self) -> None:
        self._decisions = load(self.benchmark, "callbacks.pr.benchmark").checker

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Score and log."""
        if trainer.sanity_checking or self._decisions is None:
            return
        if self._due(trainer):
            self._last = static_pr(_engine(pl_module), self._decisions) if trainer.is_global_zero else 0.0
            self._last = float(trainer.strategy.broadcast(self._last))
        pl_module.log("val/pr", self._last, rank_zero_only=False)

    def _due(self, trainer: pl.Trainer) -> bool:
        """The first epoch counts: a figure that the best checkpoint is chosen by, and that may stop the run, must be finite."""
        epoch = trainer.current_epoch + 1
        return epoch % self.every == 0 or epoch == trainer.max_epochs or trainer.should_stop or not math.isfinite(self._last)

    def state_dict(self) -> dict[str, float]:
        return {"last": self._last}

    def load_state_dict(self, state_dict: dict[str, float]) -> None:
        self._last = state_dict["last"]


def static_pr(engine: Engine, decisions: CheckerDecisions) -> float:
    """PR of ``engine``'s static play: 500 times the mean points given away per decision by the reference's cubeless equity."""
    from raccoon.eval.pr.checker_scoring import PR_SCALE, choose, score
    from raccoon.play.player import EnginePlayer

    return PR_SCALE * float(score(engine.name, decisions, choose(EnginePlayer(engine), decisions)).loss.mean())


def _engine(pl_module: pl.LightningModule) -> Engine:
    """The network under training as an engine, which copies its weights."""
    from raccoon.engine.net import NetEngine

    net = network_of(pl_module, "callbacks.pr")
    return NetEngine(net, device=str(net.device), name="training")

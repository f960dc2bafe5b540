"""Callbacks of the ``callbacks`` group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lightning.pytorch as pl

from raccoon.contracts import Engine
from raccoon.eval.benchmark.loader import CHOOSING, SHIPPED, load
from raccoon.train.callbacks.seldom import SeldomMeasured
from raccoon.train.contract import network_of

if TYPE_CHECKING:
    from raccoon.eval.benchmark.decisions import CheckerDecisions

__all__ = ["BenchmarkPR"]


class BenchmarkPR(SeldomMeasured):
    """Logs ``val/pr``: the PR of the network's static play on a money benchmark, after the validation of every ``every``-th epoch.

    ``benchmark``: ``choosing``, ``embedded``, ``measured`` or the path of a benchmark file. What epochs are chosen by is best not what they
    are reported on. A path is read at once, before any label is made, so that a bad file, or one without checker decisions, costs
    nothing. The first epoch is scored as well, and the last one, also where a time budget ends the run early. The others carry the last
    score, so that none of them becomes the best. The averaged weights are scored where there are any.
    """

    figures = ("val/pr",)
    option = "pr"

    def __init__(self, benchmark: str = CHOOSING, every: int = 1) -> None:
        super().__init__(every)
        self.benchmark = benchmark
        self._decisions: CheckerDecisions | None = None
        if benchmark not in SHIPPED:
            self._load()

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        """Load the benchmark once."""
        self._load()

    def _load(self) -> CheckerDecisions:
        if self._decisions is None:
            self._decisions = load(self.benchmark, "callbacks.pr.benchmark").plays()
        return self._decisions

    def measure(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> tuple[float]:
        return (static_pr(_engine(pl_module), self._load()),)


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

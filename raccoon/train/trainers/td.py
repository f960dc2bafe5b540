"""``trainer=td``: TD(lambda) by self-play. The labels are lambda-returns of the network's own games."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted, whole
from raccoon.contracts import Engine, RaccoonError
from raccoon.data.selfplay.episodes import Episodes
from raccoon.model.network import RaccoonNet
from raccoon.search.expectimax import Tree
from raccoon.train.objectives.td_targets import backups, lambda_returns, outcomes
from raccoon.train.trainers.options import ValueOptions
from raccoon.train.trainers.selftaught import SelfTaught

__all__ = ["TARGETS", "TemporalDifference"]

TARGETS = ("sampled", "exact")


class TemporalDifference(SelfTaught):
    """Trains ``net`` on the games that ``data=selfplay`` plays with ``best_net``, which also values the states: the averaged
    weights (``ema_decay``) are the target network.

    ``target``: ``sampled`` bootstraps from the state that the dice led to, ``exact`` from the mean over the 21 rolls of the best
    reply (see ``raccoon.train.objectives.td_targets``), some 300 evaluations a state. ``lam``: lambda, 0 (the next state alone) to 1 (the
    game's result). ``prune``: an engine that shortlists ``shortlist`` replies to each roll for the exact backups (null: all are
    valued). The other settings, and what is logged, are ``ValueTrainer``'s; validation is on held-out games, so that
    ``val/mse`` is the mean squared TD error there and not comparable between runs. Without the callback ``pr`` the last epoch
    is exported. Raises RaccoonError naming the key of a bad setting.
    """

    def __init__(
        self,
        net: RaccoonNet,
        *,
        target: str = "sampled",
        lam: float = 0.7,
        prune: Engine | None = None,
        shortlist: int = 5,
        **options: Unpack[ValueOptions],
    ) -> None:
        if target not in TARGETS:
            raise RaccoonError(f"trainer.target={quoted(target)}: choose one of {', '.join(TARGETS)}")
        number("trainer.lam", lam, "a number from 0 to 1", most=1.0)
        if prune is not None and target != "exact":
            raise RaccoonError("trainer.prune: shortlists the replies of exact backups; set trainer.target=exact or trainer.prune=null")
        super().__init__(net, **options)
        self.target, self.lam = target, lam
        self.prune, self.shortlist = prune, whole("trainer.shortlist", shortlist, 1)

    def label(self, episodes: Episodes, engine: Engine) -> NDArray[np.float64]:
        """``float64[N, 6]``: the lambda-return of every row; ``engine`` holds ``best_net``."""
        values = outcomes(episodes.boards, engine)
        if self.target == "sampled":
            return lambda_returns(values, episodes.offsets, self.lam)
        rolled = episodes.rolled
        backed_up = np.zeros_like(values)
        backed_up[rolled] = backups(episodes.boards[rolled], Tree(engine, prune=self.prune, shortlist=self.shortlist))
        return lambda_returns(values, episodes.offsets, self.lam, backed_up)

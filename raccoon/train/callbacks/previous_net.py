"""A callback that measures progress by play: the network against itself of some epochs ago."""

from __future__ import annotations

import math
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch

from raccoon.checks import whole
from raccoon.contracts import Figure
from raccoon.model import checkpoint_file
from raccoon.model.network import RaccoonNet
from raccoon.train.callbacks.seldom import SeldomMeasured
from raccoon.train.contract import network_of

__all__ = ["PreviousNet"]


class PreviousNet(SeldomMeasured):
    """Logs ``val/v_previous`` after every ``every``-th epoch: points per game, the luck of the dice taken out, of the network against
    what it was at the comparison before, at first against the starting network; ``val/v_previous_ci`` is the half width of its
    95% interval.

    ``games`` cubeless games by static play, the averaged weights where there are any, stopped after ``turn_cap`` rolls and then left
    out. The epochs in between carry the last figures. Only the first process plays.
    """

    figures = ("val/v_previous", "val/v_previous_ci")
    option = "previous"
    ends = False

    def __init__(self, every: int = 10, games: int = 100, turn_cap: int = 500, seed: int = 1) -> None:
        super().__init__(every)
        self.games = whole("callbacks.previous.games", games, 3)
        self.turn_cap = whole("callbacks.previous.turn_cap", turn_cap, 1)
        self.seed = whole("callbacks.previous.seed", seed, 0)
        self._net = b""

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Keep the starting network, of a run that begins."""
        if not self._net:
            self._net = checkpoint_file.dumps(network_of(pl_module, "callbacks.previous"))

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Play and log, and keep the network that has played."""
        super().on_validation_epoch_end(trainer, pl_module)
        if self.measured_in == trainer.current_epoch:
            self._net = checkpoint_file.dumps(network_of(pl_module, "callbacks.previous"))

    def measure(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> tuple[float, float]:
        figure = self._against_previous(network_of(pl_module, "callbacks.previous"))
        return figure.value, math.nan if figure.hi is None else figure.hi - figure.value

    def _against_previous(self, now: RaccoonNet) -> Figure:
        """Points per game of ``now``; not a number where the turn cap has stopped nearly all games."""
        from raccoon.engine.net import NetEngine
        from raccoon.eval.luck import LuckObserver
        from raccoon.play.match import play_games
        from raccoon.play.player import EnginePlayer
        from raccoon.stats import mean_ci

        nets, device = (now, checkpoint_file.loads(self._net)), str(now.device)
        player, opponent = (EnginePlayer(NetEngine(net, device=device)) for net in nets)
        games = np.arange(self.games)
        luck = LuckObserver(games)
        played = play_games((player, opponent), games, self.seed, observers=[luck], turn_cap=self.turn_cap)
        ended = ~played.capped
        return mean_ci((played.points - luck.luck)[ended]) if ended.sum() > 2 else Figure(math.nan)

    def state_dict(self) -> dict[str, Any]:
        """The network to compare with and the last figures."""
        return super().state_dict() | {"net": torch.from_numpy(np.frombuffer(self._net, np.uint8).copy())}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave, here or in an earlier version."""
        super().load_state_dict({"last": state_dict.get("figures")} | state_dict)
        self._net = state_dict["net"].cpu().numpy().tobytes()

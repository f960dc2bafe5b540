"""``trainer=alphazero``: both heads from games that a tree search plays. The labels are results and root values."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number
from raccoon.contracts import Engine, RaccoonError
from raccoon.data.contract import DATA_FOR, Kind
from raccoon.data.selfplay.episodes import Episodes
from raccoon.model import checkpoint_file
from raccoon.model.network import RaccoonNet
from raccoon.train.objectives.alphazero_targets import blended, results, tilted
from raccoon.train.objectives.td_targets import outcomes
from raccoon.train.trainers.joint import JointTrainer
from raccoon.train.trainers.options import JointOptions
from raccoon.train.trainers.selftaught import SelfTaught

__all__ = ["START", "AlphaZero"]

START = "start.pt"
"""The weights that a run began with, in its folder."""


class AlphaZero(SelfTaught, JointTrainer):
    """Trains ``net`` on the games that ``data=selfplay_mcts`` plays by tree search with ``best_net`` (Silver et al. 2017).

    The policy head learns the shares of the visits. The value head learns ``value_bootstrap_alpha`` times the game's result plus the
    rest of the root's value (see ``alphazero_targets``): 1 is AlphaZero's own target, less of it has less of the luck
    of the dice. Games stopped by the turn cap count as what the network makes of their last state. ``weight_decay`` is the
    L2 term. The other settings, and what is logged, are ``JointTrainer``'s; ``start.pt`` in the run folder keeps the weights
    that it began with. With a value loss and without the callback ``pr`` the last epoch is exported. Raises RaccoonError naming the
    key of a bad setting.
    """

    needs: Kind = "searched_games"

    def __init__(self, net: RaccoonNet, *, value_bootstrap_alpha: float = 0.2, **options: Unpack[JointOptions]) -> None:
        number("trainer.value_bootstrap_alpha", value_bootstrap_alpha, "a number from 0 to 1", most=1.0)
        super().__init__(net, **options)
        self.value_bootstrap_alpha = value_bootstrap_alpha

    def label(self, episodes: Episodes, engine: Engine) -> NDArray[np.float64]:
        """``float64[N, 6]``: target of every row; ``engine`` holds ``best_net``. Raises RaccoonError where no tree chose the plays."""
        if episodes.values is None:
            raise RaccoonError("trainer=alphazero: learns from games that a tree search played; choose " + DATA_FOR[self.needs])
        last, rolled, alpha = episodes.offsets[1:] - 1, episodes.rolled, self.value_bootstrap_alpha
        targets = results(outcomes(episodes.boards[last], engine), episodes.offsets)
        if alpha < 1.0:
            searched = tilted(outcomes(episodes.boards[rolled], engine), episodes.values[rolled])
            targets[rolled] = blended(targets[rolled], searched, alpha)
        return targets

    def on_train_start(self) -> None:
        """Keep the weights of a run that begins."""
        super().on_train_start()
        if self.global_step == 0 and self.trainer.is_global_zero:
            checkpoint_file.save(Path(self.trainer.default_root_dir) / START, self.best_net, self.meta)

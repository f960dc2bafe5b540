"""A player that now and then plays anything, so that self-play meets positions that good play avoids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Player, Turns
from raccoon.env.position_ids import position_words
from raccoon.rng import hash64, uniform

__all__ = ["ExploringPlayer"]


class ExploringPlayer:
    """``player``, but a share of its turns is played at random among the distinct plays.

    Which turns, and which play, follow from (seed, position, dice) alone: no state, the same in any batch.
    """

    def __init__(self, player: Player, share: float, seed: int) -> None:
        self.name = f"{player.name}~{share:g}"
        self.player = player
        self.share = share
        self.seed = seed

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        """See ``Player.choose``."""
        chosen = np.asarray(self.player.choose(turns), np.int64)
        low, high = position_words(turns.boards).T
        dice = turns.dice.astype(np.uint64)
        high = high | (dice[:, 0] << np.uint64(16)) | (dice[:, 1] << np.uint64(24))  # above the 80 bits of the position
        strays = uniform(hash64(self.seed, "explore", low, high)) < self.share
        anything = hash64(self.seed, "explore play", low, high) % np.diff(turns.offsets).astype(np.uint64)
        return np.where(strays, anything.astype(np.int64), chosen)

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """As the player."""
        return self.player.double(boards, cubes)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """As the player."""
        return self.player.take(boards, cubes)

"""A player that now and then plays anything, so that self-play meets positions that good play avoids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Player, Turns
from raccoon.env.codec import position_keys
from raccoon.rng import hash64

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
        words = np.zeros((len(turns), 16), np.uint8)
        words[:, :10] = position_keys(turns.boards)
        words[:, 10:12] = turns.dice
        low, high = words.view(np.uint64).T
        strays = uniform(hash64(self.seed, "explore", low, high)) < self.share
        anything = hash64(self.seed, "explore play", low, high) % np.diff(turns.offsets).astype(np.uint64)
        return np.where(strays, anything.astype(np.int64), chosen)

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """As the player."""
        return self.player.double(boards, cubes)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        """As the player."""
        return self.player.take(boards, cubes)


def uniform(hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Hashes as numbers in [0, 1)."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53

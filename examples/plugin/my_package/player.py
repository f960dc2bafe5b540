"""Hits what it can, as far from home as it can."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import Boards, Cubes, Turns
from raccoon.env.board import pips
from raccoon.play.player import best_children


class Hitter:
    """Plays the child that leaves the opponent (slot 1 of a child) the most pips."""

    name = "my_hitter"

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        theirs = pips(turns.children)[:, 1].astype(np.float64)
        return best_children(theirs, np.ones(len(theirs), bool), turns.offsets)

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        return np.zeros(len(boards), bool)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        return np.ones(len(boards), bool)

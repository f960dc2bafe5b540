"""Dice of rollouts: keyed by (seed, trial, roll number) alone, so every position and candidate meets the same ones.

Stratified, as GNU Backgammon's quasi-random dice are: each block of 36 trials shows all 36 first rolls once and all 36
second rolls once, and the 36 blocks of each 1,296 trials show every pair of the two once. Each trial alone still sees two
independent fair rolls, so means stay right for any number of blocks. Later rolls are drawn one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raccoon.engine.rolls import dice_of
from raccoon.rng import below, hash64

__all__ = ["BLOCK", "trial_dice"]

BLOCK = 36
"""Trials that share out the first roll evenly."""


def trial_dice(seed: int, trial: NDArray[np.int64], step: int, stratify: bool = True) -> NDArray[np.int8]:
    """``int8[K, 2]``: the dice of roll number ``step`` (from 0) of the trials ``int64[K]``."""
    if stratify and step < 2:
        outcome = _first(seed, trial) if step == 0 else _second(seed, trial)
    else:
        outcome = below(hash64(seed, "rollout", trial, np.full(len(trial), step)), BLOCK)
    return dice_of(outcome)


def _first(seed: int, trial: NDArray[np.int64]) -> NDArray[np.int64]:
    return _shuffled(seed, "rollout first roll", trial // BLOCK, trial % BLOCK)


def _second(seed: int, trial: NDArray[np.int64]) -> NDArray[np.int64]:
    """A Latin square of (block, first roll): rows and columns hold each second roll once, its symbols and columns shuffled."""
    square, block = np.divmod(trial // BLOCK, BLOCK)
    column = _shuffled(seed, "rollout second roll column", square, _first(seed, trial))
    return _shuffled(seed, "rollout second roll", square, (column + block) % BLOCK)


def _shuffled(seed: int, purpose: str, key: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.int64]:
    """What stands at ``place`` of the permutation of 0..35 that belongs to ``key``."""
    keys, inverse = np.unique(key, return_inverse=True)
    order = np.argsort(hash64(seed, purpose, keys[:, None], np.arange(BLOCK)[None]), axis=1, kind="stable")
    return order[inverse.reshape(-1), place]

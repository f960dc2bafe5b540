"""Dice that depend on nothing but (seed, game, roll): one counter-based stream, so games do not depend on batching.

The opening has 30 equally likely outcomes (who starts x 15 unequal rolls), in OpenSpiel's order: outcome ``k`` is pair
``k // 2`` of 12, 13, .., 16, 23, .., 56 and seat ``k % 2`` starts. Every later roll is one of 36.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.engine.rolls import dice_of
from raccoon.env.movegen import ROLLS
from raccoon.rng import below, hash64

__all__ = ["OPENING_MODES", "OPENING_PAIRS", "STRATUM_GAMES", "opening", "rolls", "stream"]

OPENING_PAIRS: NDArray[np.int8] = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]]
"""``int8[15, 2]``: the unequal rolls, low die first."""

OPENING_MODES = ("random", "stratified")
STRATUM_GAMES = 60
"""Games in which stratified openings show each of the 30 outcomes to each seating exactly once."""


def stream(games: NDArray[Any], number: NDArray[Any]) -> NDArray[np.int64]:
    """``int64[N]``: the game numbers that decide the dice of game ``number`` (from 0) of match ``games[i]``.

    The first game of a match has the number of the match, later ones their own.
    """
    return np.asarray(games, np.int64) + (np.asarray(number, np.int64) << 40)


def rolls(seed: int, games: NDArray[Any], roll: NDArray[Any]) -> NDArray[np.int8]:
    """``int8[N, 2]``: dice of roll number ``roll[i] >= 1`` of game ``games[i]``, uniform over 36 outcomes."""
    return dice_of(below(hash64(seed, "dice", games, roll), 36))


def opening(seed: int, games: NDArray[Any], mode: str = "random") -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """``(seat int8[N], dice int8[N, 2])``: which seat starts and with what roll.

    ``stratified``: games ``2j`` and ``2j + 1`` (the two seatings) share an outcome, and every ``STRATUM_GAMES`` games
    show all 30 outcomes to both seatings, in a random order drawn for each such block. Each game alone is uniform over
    the 30, so the estimate stays unbiased for any number of games. Raises RaccoonError for another mode.
    """
    games = np.asarray(games, np.int64)
    if mode == "random":
        outcome = below(hash64(seed, "opening", games), 30)
    elif mode == "stratified":
        block, inverse = np.unique(games // STRATUM_GAMES, return_inverse=True)
        order = np.argsort(hash64(seed, "opening order", block[:, None], np.arange(30)[None]), axis=1, kind="stable")
        outcome = order[inverse, (games % STRATUM_GAMES) // 2]
    else:
        raise RaccoonError(f"openings={quoted(mode)}: choose one of {', '.join(OPENING_MODES)}")
    return (outcome % 2).astype(np.int8), OPENING_PAIRS[outcome // 2]

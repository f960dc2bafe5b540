"""The Kazaross-XG2 match equity table: how likely a match is won from a score, both sides being equally strong.

Neil Kazaross's table of 2011 for matches of up to 25 points, with its own row for games after the Crawford game; the
file ``kazaross_xg2.csv`` in ``raccoon.assets`` names its source. Scores are *away* scores: points still needed.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon import assets
from raccoon.checks import whole
from raccoon.contracts import RaccoonError

__all__ = ["LONGEST", "check_away", "check_length", "equity", "table"]

LONGEST = 25
"""The longest match that the table knows, in points."""
_ASSET = "kazaross_xg2.csv"


@cache
def table() -> NDArray[np.float64]:
    """``float64[2, 26, 26]``: match winning chance of the side ``i`` away against one ``j`` away, ``[post_crawford, i, j]``.

    Index 0 is a side that has won. Post-Crawford rows differ where a side is 1 away, and mean nothing else. Read-only.
    """
    lines = np.loadtxt(assets.path(_ASSET), delimiter=",", comments="#", dtype=np.float64)
    out = np.empty((2, LONGEST + 1, LONGEST + 1))
    out[:, 1:, 1:] = lines[:LONGEST]
    out[1, 1:, 1] = lines[LONGEST]
    out[1, 1, 1:] = 1.0 - lines[LONGEST]
    out[:, :, 0] = 0.0
    out[:, 0, :] = 1.0
    out.flags.writeable = False
    return out


def check_length(length: object, key: str) -> int:
    """``length`` when the table covers a match to so many points. Raises RaccoonError naming ``key`` otherwise."""
    points = whole(key, length, 1)
    if points > LONGEST:
        raise RaccoonError(f"{key}={points}: the Kazaross-XG2 match equity table ends at {LONGEST} points; play shorter matches")
    return points


def check_away(away: NDArray[np.integer]) -> None:
    """Raises RaccoonError for an away score beyond the table, naming the settings that lead there."""
    if away.max(initial=0) > LONGEST:
        raise RaccoonError(
            f"{int(away.max())} points away: the Kazaross-XG2 match equity table ends at {LONGEST} points; "
            f"set evaluator.match_length (match_length) to {LONGEST} at most"
        )


def equity(away: ArrayLike, post_crawford: ArrayLike = False) -> NDArray[np.float64]:
    """``float64[N]``: match winning chance of the first side of ``away int[N, 2]`` when the next game starts.

    ``post_crawford``, one or ``bool[N]``: the Crawford game has been played (otherwise a score with a side 1 away is the
    Crawford game's). At 0 or below a side has won the match; at most one of the two. Raises RaccoonError beyond the table.
    """
    away = np.asarray(away)
    check_away(away)
    mine, theirs = np.moveaxis(np.maximum(away, 0), -1, 0)
    return table()[np.asarray(post_crawford, bool).astype(np.intp), mine, theirs]

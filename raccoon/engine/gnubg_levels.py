"""GNU Backgammon's named playing levels, as far as they fix the depth of its checker play."""

from __future__ import annotations

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError

__all__ = ["LEVELS", "ply_of"]

LEVELS: dict[str, int] = {
    "beginner": 0,
    "casual": 0,
    "intermediate": 0,
    "advanced": 1,
    "expert": 1,
    "world": 2,
    "world class": 2,
    "supremo": 2,
    "grandmaster": 2,
}
"""Level name -> ply. GNU Backgammon's lowest levels add noise to the same 0-ply evaluation; here they play it clean."""


def ply_of(level: str, key: str = "level") -> int:
    """Ply of a level name (any case; ``_`` and ``-`` read as a blank). Raises RaccoonError naming ``key`` and listing the names."""
    name = " ".join(level.lower().replace("_", " ").replace("-", " ").split())
    if name not in LEVELS:
        raise RaccoonError(f"{key}={quoted(level)}: is no level of GNUBG; choose one of {', '.join(LEVELS)}")
    return LEVELS[name]

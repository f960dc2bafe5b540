"""Checks of settings that many parts share. The errors name the key and say what to give."""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.contracts import RaccoonError

__all__ = ["whole"]


def whole(key: str, value: Any, least: int) -> int:
    """``value`` if it is a whole number (and no bool) of at least ``least``; else RaccoonError naming ``key``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise RaccoonError(f"{key}={value!r}: give a whole number, {least} or more")
    return int(value)

"""Checks of settings that many parts share. The errors name the key and say what to give."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from raccoon.contracts import RaccoonError

__all__ = ["bounded", "flag", "number", "path", "quoted", "whole"]

_SHOWN = 80
_LONGEST_NAME, _LONGEST_PATH = 255, 4000  # Linux has 4,096; the files in a run folder need the rest
_DEEPEST, _MOST_VALUES, _MOST_BITS = 32, 100_000, 1024


def quoted(value: Any) -> str:
    """``value`` as an error message shows it: its ``repr``, cut to 80 characters."""
    try:
        text = repr(value[: _SHOWN + 1] if isinstance(value, str | bytes) else value)
    except (ValueError, RecursionError):  # numbers of thousands of digits, endless nesting
        return f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def flag(key: str, value: Any) -> bool:
    """``value`` if it is True or False; else RaccoonError naming ``key``."""
    if not isinstance(value, bool):
        raise RaccoonError(f"{key}={quoted(value)}: give true or false")
    return value


def whole(key: str, value: Any, least: int) -> int:
    """``value`` if it is a whole number (and no bool) of at least ``least``; else RaccoonError naming ``key``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise RaccoonError(f"{key}={quoted(value)}: give a whole number, {least} or more")
    return int(value)


def number(key: str, value: Any, what: str, *, least: float = 0.0, most: float = math.inf, above: bool = False) -> float:
    """``value`` if it is a number (no bool, not infinite) from ``least`` (``above``: greater than it) to ``most``.

    Else RaccoonError naming ``key`` and saying to give ``what``.
    """
    given = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if not given or not least <= value <= most or (above and value == least):
        raise RaccoonError(f"{key}={quoted(value)}: give {what}")
    return float(value)


def path(key: str, value: Any) -> None:
    """Raise RaccoonError naming ``key`` for what no file system takes as a path."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise RaccoonError(f"{key}={quoted(value)}: give a path")
    names = [len(name.encode(errors="replace")) for name in value.split("/")]
    if sum(names) + len(names) > _LONGEST_PATH or max(names) > _LONGEST_NAME:
        raise RaccoonError(f"{key}={quoted(value)}: give a shorter path (names up to {_LONGEST_NAME} bytes, {_LONGEST_PATH:,} in all)")


def bounded(value: Any, at: str) -> None:
    """Refuse plain data that nests deeper than 32, holds more than 100,000 values (what holds itself does) or a number of
    more than 1024 bits. Raises RaccoonError naming ``at``."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST or seen > _MOST_VALUES:
            raise RaccoonError(f"{at}: nests deeper than {_DEEPEST} levels or holds more than {_MOST_VALUES:,} values")
        if isinstance(one, int) and one.bit_length() > _MOST_BITS:
            raise RaccoonError(f"{at}: holds a whole number of {one.bit_length()} bits; give a smaller one")
        if isinstance(one, Mapping):
            waiting += [(inner, depth + 1) for item in one.items() for inner in item]
        elif isinstance(one, list | tuple):
            waiting += [(inner, depth + 1) for inner in one]

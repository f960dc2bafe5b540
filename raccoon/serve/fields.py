"""The fields of a message of the page, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raccoon import checks
from raccoon.checks import quoted
from raccoon.contracts import RaccoonError

__all__ = ["flag", "integer", "text"]


def text(body: Mapping[str, Any], key: str, default: str | None = None, most: int = 200) -> str:
    """The text under ``key``, without blanks around it. Raises RaccoonError where it is none, or longer than ``most``."""
    value = body.get(key, default)
    if not isinstance(value, str):
        raise RaccoonError(f"{key}: " + ("is missing" if value is None else f"{quoted(value)} is no text"))
    if len(value) > most:
        raise RaccoonError(f"{key}: {len(value):,} characters; {most:,} are the most")
    return value.strip()


def integer(body: Mapping[str, Any], key: str, least: int, most: int) -> int:
    """The whole number under ``key``, 0 where there is none. Raises RaccoonError where it is none from ``least`` to ``most``."""
    value = body.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise RaccoonError(f"{key}={quoted(value)}: give a whole number from {least:,} to {most:,}")
    return value


def flag(body: Mapping[str, Any], key: str) -> bool:
    """The truth value under ``key``, False where there is none. Raises RaccoonError for another kind of value."""
    return checks.flag(key, body.get(key, False))

"""The text of a file, whatever wrote it."""

from __future__ import annotations

import codecs
from pathlib import Path

from raccoon.contracts import RaccoonError
from raccoon.files import read_regular

__all__ = ["decode", "read_text"]

_MOST = 1 << 26
"""Bytes of the largest file."""


def decode(data: bytes) -> str:
    """UTF-8 or UTF-16 with or without a mark, else cp1252, in which every byte means something."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def read_text(path: str | Path) -> str:
    """The text of ``path``. Raises RaccoonError naming it where it cannot be read."""
    try:
        return decode(read_regular(path, _MOST))
    except OSError as error:
        raise RaccoonError(f"{path}: cannot be read ({error.strerror or error})") from error

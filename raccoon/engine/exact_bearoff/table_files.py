"""Where bear-off tables are kept between runs: numpy files with a sha256 of the table behind them."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from raccoon.contracts import RaccoonError
from raccoon.files import atomic, remove_left_over

__all__ = ["cache_folder", "load_or_build", "table_path"]

log = logging.getLogger(__name__)
_VERSION = 1
_DIGEST = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Where tables are kept: ``$RACCOON_CACHE``, else the user's cache folder for raccoon."""
    return Path(os.environ.get("RACCOON_CACHE") or user_cache_path("raccoon"))


def table_path(what: str) -> Path:
    """The file of the table called ``what``."""
    return cache_folder() / f"bearoff-v{_VERSION}-{what}.npy"


def load_or_build(what: str, shape: tuple[int, ...], make: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """The table from the cache, memory-mapped so that processes share it. It is built and saved when it is missing or damaged.

    The digest is compared once a process, .1 s for the largest table.
    """
    path = table_path(what)
    table = _read(path, shape)
    if table is not None:
        return table
    if os.path.exists(path):
        log.warning("%s: damaged, or of an older version; the table is made again", path)
    made = make()
    try:
        remove_left_over(path.parent)
        with atomic(path) as handle:
            np.save(handle, made)
            handle.write(hashlib.sha256(made.data).digest())
    except (RaccoonError, OSError):
        return made  # no room or no permission: this process keeps its own copy
    return made


def _read(path: Path, shape: tuple[int, ...]) -> NDArray[np.float32] | None:
    """None for anything but a table of that shape with its digest behind it."""
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            return None
        table: Any = np.load(path, mmap_mode="r")
        with open(path, "rb") as handle:
            handle.seek(-_DIGEST, os.SEEK_END)
            digest = handle.read()
    except (OSError, ValueError, EOFError, OverflowError):
        return None
    if not issubclass(type(table), np.memmap) or table.shape != shape or table.dtype != np.float32 or not table.flags.c_contiguous:
        return None
    if path.stat().st_size != table.offset + table.nbytes + _DIGEST:
        return None
    return table if hashlib.sha256(table.data).digest() == digest else None

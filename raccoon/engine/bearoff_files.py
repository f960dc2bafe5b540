"""Where bear-off tables are kept between runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from raccoon.contracts import RaccoonError
from raccoon.files import atomic, remove_left_over

__all__ = ["cache_folder", "kept", "table_path"]

_VERSION = 1


def cache_folder() -> Path:
    """Where tables are kept: ``$RACCOON_CACHE``, else the user's cache folder for raccoon."""
    return Path(os.environ.get("RACCOON_CACHE") or user_cache_path("raccoon"))


def table_path(what: str) -> Path:
    """The file of the table called ``what``."""
    return cache_folder() / f"bearoff-v{_VERSION}-{what}.npy"


def kept(what: str, shape: tuple[int, ...], make: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """The table from the cache, memory-mapped so that processes share it; built and kept there when missing or broken."""
    path = table_path(what)
    table = _read(path, shape)
    if table is not None:
        return table
    made = make()
    try:
        remove_left_over(path.parent)
        with atomic(path) as handle:
            np.save(handle, made)
    except RaccoonError:
        return made  # no room or no permission: this process keeps its own copy
    return made


def _read(path: Path, shape: tuple[int, ...]) -> NDArray[np.float32] | None:
    try:
        table = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return table if table.shape == shape and table.dtype == np.float32 else None

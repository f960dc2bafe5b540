"""Numba's ``njit`` with a cache that never stops a program: where none can be read or written, each process compiles for itself."""

from __future__ import annotations

import contextlib
import logging
import pickle
from collections.abc import Callable
from typing import Any

import numba

__all__ = ["kernel"]

log = logging.getLogger(__name__)
_DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, ImportError, IndexError, pickle.UnpicklingError)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` at its first call, without the GIL, and keep the code where numba keeps it, if it can be kept."""
    try:
        compiled: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder for the cache can be written
        return numba.njit(nogil=True)(function)
    cache = compiled._cache
    load, save = cache.load_overload, cache.save_overload

    def loaded(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except _DAMAGED as error:
            log.debug("%s: cannot be read (%s)", cache.cache_path, error)
            with contextlib.suppress(OSError):
                cache.flush()  # a damaged index would be in the way of the next one
            return None

    def saved(signature: Any, result: Any) -> None:
        try:
            save(signature, result)
        except _DAMAGED as error:
            log.debug("%s: cannot be written (%s)", cache.cache_path, error)

    cache.load_overload, cache.save_overload = loaded, saved
    return compiled

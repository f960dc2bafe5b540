"""Files that ship with Raccoon: the embedded benchmark and the default net."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

from raccoon.contracts import RaccoonError

__all__ = ["BENCHMARK", "DEFAULT_NET", "folder", "path"]

DEFAULT_NET, BENCHMARK = "default.pt", "money_benchmark.npz.xz"


def folder() -> Path:
    """Where the embedded files lie."""
    return Path(str(importlib.resources.files(__name__)))


def path(name: str) -> Path:
    """The embedded file ``name``. Raises RaccoonError naming it when this installation lacks it."""
    found = folder() / name
    if not found.is_file():
        raise RaccoonError(f"{found}: this installation lacks the embedded file {name}; install Raccoon again")
    return found

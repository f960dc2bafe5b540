"""Files that ship with Raccoon: three benchmarks, the default net and the pruning net."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

from raccoon.contracts import RaccoonError

__all__ = ["BENCHMARKS", "NETS", "folder", "path"]

BENCHMARKS = {"embedded": "money_benchmark.npz.xz", "choosing": "choosing_benchmark.npz.xz", "measured": "measured_benchmark.npz.xz"}
"""Names that configs may give instead of a path, and the benchmarks they stand for: one to report on, one to choose networks by, and
decisions of the first with measured references."""
NETS = {"default": "default.pt", "prune": "prune.pt"}
"""Names that configs may give instead of a path, and the networks they stand for."""


def folder() -> Path:
    """Where the embedded files lie."""
    return Path(str(importlib.resources.files(__name__)))


def path(name: str) -> Path:
    """The embedded file ``name``. Raises RaccoonError naming it when this installation lacks it."""
    found = folder() / name
    if not found.is_file():
        raise RaccoonError(f"{found}: this installation lacks the embedded file {name}; install Raccoon again")
    return found

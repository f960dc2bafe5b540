"""The line before the first start on a machine, which compiles the rules and would say nothing for a while."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["is_compiled", "notice"]

_SLOWEST = "movegen._generate"
_TEXT = "first start here: compiling the rules of the game, half a minute on a free core; later starts are quick"


def is_compiled(folder: Path | str | None = None) -> bool:
    """Whether the cache of kernels has the move generator. ``folder``: where to look; None: where numba keeps this copy's."""
    from raccoon.env import movegen

    where = Path(str(movegen.step.stats.cache_path) if folder is None else folder)
    return any(where.glob(f"{_SLOWEST}-*.nbi"))


def notice(folder: Path | str | None = None) -> None:
    """Tell the user on stderr, so that what a program prints on stdout stays as it is."""
    if not is_compiled(folder):
        print(_TEXT, file=sys.stderr, flush=True)

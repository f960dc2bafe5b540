"""Measurements: arenas, PR on a money benchmark, doubles; luck, statistics and reports behind them. Names load on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raccoon.eval.arena import Arena
    from raccoon.eval.bgsage_pr import BGSagePR
    from raccoon.eval.doubles import DoublesConcession
    from raccoon.eval.gnubg_harness import GnubgHarness
    from raccoon.eval.pr_table import PRTable
    from raccoon.eval.vr_arena import VRArena

__all__ = ["Arena", "BGSagePR", "DoublesConcession", "GnubgHarness", "PRTable", "VRArena"]

_HOMES = {
    "Arena": "arena",
    "BGSagePR": "bgsage_pr",
    "DoublesConcession": "doubles",
    "GnubgHarness": "gnubg_harness",
    "PRTable": "pr_table",
    "VRArena": "vr_arena",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)

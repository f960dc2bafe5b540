"""Measurements: arenas, PR on a money benchmark, doubles; luck, statistics and reports behind them. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

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

__getattr__, __dir__ = facade(__name__, _HOMES)

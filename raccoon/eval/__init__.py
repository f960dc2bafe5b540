"""Measurements: arenas, PR on a money benchmark, doubles; luck, statistics and reports behind them. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.eval.arena.doubles import DoublesConcession
    from raccoon.eval.arena.gnubg_harness import GnubgHarness
    from raccoon.eval.arena.head_to_head import Arena
    from raccoon.eval.arena.vr_arena import VRArena
    from raccoon.eval.pr.checker import BGSagePR
    from raccoon.eval.pr.table import PRTable

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

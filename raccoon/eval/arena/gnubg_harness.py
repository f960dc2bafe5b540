"""``evaluator=gnubg_harness``: the VR arena against GNUBG at a level called by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.contracts import Report
from raccoon.engine.gnubg_levels import ply_of
from raccoon.eval.arena.vr_arena import VRArena
from raccoon.executor import Executor

__all__ = ["GnubgHarness", "level_node"]


def level_node(level: str) -> dict[str, Any]:
    """Config node of GNUBG playing at ``level``; above 0 ply by the pruned package, which is several times faster.

    Raises RaccoonError listing the levels.
    """
    ply = ply_of(level)
    engine = {"_target_": "raccoon.engine.GnubgEngine", "ply": ply, "package": "pruned" if ply else "nn"}
    return {"_target_": "raccoon.play.EnginePlayer", "name": f"gnubg {level}", "engine": engine}


class GnubgHarness(VRArena):
    """``level``: beginner, casual, intermediate, advanced, expert, world, supremo, grandmaster. Other options as ``VRArena``."""

    name = "gnubg_harness"
    reads = ("player",)

    def __init__(
        self,
        executor: Executor,
        level: str = "expert",
        games: int = 1000,
        batch: int = 256,
        shard_games: int = 50,
        luck: str | bool = "gnubg0",
        openings: str = "random",
        turn_cap: int = 1000,
    ) -> None:
        super().__init__(executor, games, batch, shard_games, luck, openings, turn_cap)
        self.level = level
        self.node = level_node(level)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Play and report; the opponent is the level's, whatever ``opponent`` says."""
        report = super().run(player, self.node, run_dir, seed)
        report.evaluator = self.name
        ply, package = self.node["engine"]["ply"], self.node["engine"]["package"]
        report.notes.append(f"the opponent is set by evaluator.level={self.level} (GNUBG {ply}-ply, {package} package)")
        return report

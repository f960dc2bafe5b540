"""``evaluator=vr_arena``: any player against any opponent, points per game with the luck of the dice taken out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.checks import whole
from raccoon.contracts import RaccoonError, Report
from raccoon.eval.arena import figures as arena_figures
from raccoon.eval.arena.games import MatchPlan, luck_switch, play_match, write_games
from raccoon.eval.arena.short_matches import compare_arms
from raccoon.executor import Executor

__all__ = ["VRArena"]


class VRArena:
    """Cubeless money games, seats alternated. Killed runs continue from the shards in the run folder.

    ``games`` in shards of ``shard_games``; ``batch`` games live at a time in a worker. ``luck``: ``gnubg0`` takes
    GNUBG's 0-ply luck off every result, ``off`` does not compute it (the games are the same). ``openings``: ``random``
    or ``stratified`` (each of the 30 opening outcomes equally often). Games stopped by ``turn_cap`` rolls are counted
    apart. ``blocks: {count, games}`` plays something else, whatever ``games`` and ``shard_games`` say: ``count`` matches
    of its ``games`` games without and as many with variance reduction, on different dice, and compares the spread of
    the match results. ``record``: write the games as match text, ``matches/*.mat`` in the run folder, a session a shard.
    """

    name = "vr_arena"

    def __init__(
        self,
        executor: Executor,
        games: int = 6000,
        batch: int = 256,
        shard_games: int = 250,
        luck: str | bool = "gnubg0",
        openings: str = "random",
        turn_cap: int = 1000,
        blocks: Mapping[str, int] | None = None,
        record: bool = False,
    ) -> None:
        self.executor = executor
        self.plan = MatchPlan(games, shard_games, 0, batch, luck_switch(luck), openings, turn_cap, record=record)
        self.blocks: tuple[int, int] | None = None
        if blocks is not None:
            if set(blocks) != {"count", "games"}:
                raise RaccoonError(f"evaluator.blocks={dict(blocks)}: give exactly count and games")
            if record:
                raise RaccoonError("evaluator.record=true: evaluator.blocks keeps no games; leave one of them out")
            if not self.plan.luck:
                raise RaccoonError("evaluator.luck=off: evaluator.blocks plays both arms, without luck and with it; leave luck at gnubg0")
            self.blocks = whole("evaluator.blocks.count", blocks["count"], 2), whole("evaluator.blocks.games", blocks["games"], 1)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Play and report. See ``Evaluator.run``."""
        began = time.perf_counter()
        if self.blocks is not None:
            report = compare_arms(self.executor, player, opponent, self.plan, self.blocks, Path(run_dir), seed)
        else:
            report = self._measure(player, opponent, Path(run_dir), seed)
        report.seconds = time.perf_counter() - began
        return report

    def _measure(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        played = play_match(self.executor, player, opponent, self.plan, seed, run_dir / "shards", self.name)
        games = arena_figures.sample(played, self.plan.openings)
        report = Report(self.name, played.names[0], played.names[1], seed, 0.0)
        report.figures |= arena_figures.result_figures(games)
        if games.luck is not None and len(games.points) > 2:
            report.figures |= arena_figures.luck_figures(games, seed)
        report.figures |= arena_figures.cost_figures(played)
        report.tables["outcomes"] = arena_figures.outcome_table(games)
        report.plots |= arena_figures.draw(games, f"{played.names[0]} v {played.names[1]}")
        write_games(run_dir / "games.csv", played)
        report.files.append("games.csv")
        report.notes.append("points are the player's, at cube 1, without a cube; intervals are 95%, from the sample SD")
        if games.clusters is not None:
            report.notes.append("openings are stratified: whole blocks of 60 games are the units of the intervals of the means")
        return report

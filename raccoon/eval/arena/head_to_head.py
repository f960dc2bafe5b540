"""``evaluator=arena``: one checkpoint against another, the short way: who is stronger, and is that shown?"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon import stats
from raccoon.contracts import Figure, Report
from raccoon.eval.arena import figures as arena_figures
from raccoon.eval.arena.games import MatchPlan, luck_switch, play_match
from raccoon.executor import Executor

__all__ = ["Arena", "verdict"]


class Arena:
    """A match of ``games`` cubeless money games, seats alternated; raw and variance-reduced points per game and a verdict.

    Options as in ``VRArena``.
    """

    name = "arena"

    def __init__(
        self,
        executor: Executor,
        games: int = 1000,
        batch: int = 256,
        shard_games: int = 125,
        luck: str | bool = "gnubg0",
        turn_cap: int = 1000,
    ) -> None:
        self.executor = executor
        self.plan = MatchPlan(games, shard_games, 0, batch, luck_switch(luck), "random", turn_cap)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Play and report. See ``Evaluator.run``."""
        began = time.perf_counter()
        played = play_match(self.executor, player, opponent, self.plan, seed, Path(run_dir) / "shards", self.name)
        games = arena_figures.sample(played, self.plan.openings)
        report = Report(self.name, played.names[0], played.names[1], seed, 0.0, arena_figures.result_figures(games))
        figure = report.figures.get("ppg_vr", report.figures["ppg_raw"])
        report.notes.append(verdict(figure, played.names))
        if games.luck is not None and figure.value != 0 and len(games.points) > 1:
            sd = stats.mean_sd(games.reduced)[1]
            if sd > 0:
                report.figures["games_to_resolve"] = Figure(stats.games_needed(sd, figure.value))
                report.notes.append("games_to_resolve: games at which a true difference of this size is found 4 times in 5")
        report.tables["outcomes"] = arena_figures.outcome_table(games)
        report.plots |= arena_figures.draw(games, f"{played.names[0]} v {played.names[1]}")
        report.seconds = time.perf_counter() - began
        return report


def verdict(figure: Figure, names: tuple[str, str]) -> str:
    """Who is the stronger (``names``: player, opponent), as far as the interval of the points per game shows it."""
    if figure.lo is not None and figure.lo > 0:
        return f"{names[0]} is the stronger: the interval lies above 0"
    if figure.hi is not None and figure.hi < 0:
        return f"{names[1]} is the stronger: the interval lies below 0"
    return "no difference is shown: the interval holds 0"

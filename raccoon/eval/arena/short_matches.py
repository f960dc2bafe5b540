"""Many short matches without and with variance reduction: how much narrower does the spread of match results get?

The two arms play different dice, so they are independent samples; that is fair because switching luck on changes no
game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import RaccoonError, Report
from raccoon.eval.arena.figures import games_equivalent
from raccoon.eval.arena.games import Played, play_match
from raccoon.eval.arena.plan import MatchPlan
from raccoon.executor import Executor
from raccoon.report import plots
from raccoon.rng import generator

__all__ = ["compare_arms"]


def compare_arms(
    executor: Executor,
    player: Mapping[str, Any],
    opponent: Mapping[str, Any] | None,
    plan: MatchPlan,
    blocks: tuple[int, int],
    run_dir: Path,
    seed: int,
) -> Report:
    """Play ``blocks = (count, games)`` matches in each arm and report the means, SDs across matches and their ratio."""
    count, games = blocks
    total = count * games
    raw_plan = replace(plan, games=total, shard_games=games, luck=False)
    raw = play_match(executor, player, opponent, raw_plan, seed, run_dir / "shards-raw", "blocks, raw")
    vr_plan = replace(raw_plan, first=total, luck=True)
    reduced = play_match(executor, player, opponent, vr_plan, seed, run_dir / "shards-vr", "blocks, variance reduced")
    arms = {"no variance reduction": _match_means(raw, games), "variance reduced": _match_means(reduced, games)}
    report = Report("vr_arena", raw.names[0], raw.names[1], seed)
    first, second = arms.values()
    report.figures["ppg_raw"] = stats.mean_ci(first)
    report.figures["ppg_vr"] = stats.mean_ci(second)
    report.figures["difference"] = stats.welch_difference(first, second)
    ratio = stats.independent_sd_ratio(first, second, generator(seed, "blocks bootstrap"))
    report.figures["sd_ratio"] = ratio
    report.figures["games_equivalent"] = games_equivalent(ratio)
    report.tables["arms"] = [
        {"arm": name, "matches": count, "games each": games, "mean": stats.mean_ci(means), "sd across matches": stats.mean_sd(means)[1]}
        for name, means in arms.items()
    ]
    report.plots["blocks"] = _strip(arms, f"{count} matches of {games} games")
    report.notes.append("the two arms play different dice; the interval of the SD ratio is a bootstrap over matches")
    return report


def _match_means(played: Played, games: int) -> NDArray[np.float64]:
    """``float64[count]``: points per game of each match, luck taken off where it was computed; capped games left out."""
    points = played.points if played.luck is None else played.points - played.luck
    done = ~played.capped.reshape(-1, games)
    if not done.any(axis=1).all():
        raise RaccoonError("evaluator.turn_cap: it stopped every game of a match; raise it")
    return np.where(done, points.reshape(-1, games), 0.0).sum(axis=1) / done.sum(axis=1)


def _strip(arms: Mapping[str, NDArray[np.float64]], title: str) -> Any:
    return plots.histogram(arms, "points per game of a match", title, bins=24)

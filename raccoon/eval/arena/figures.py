"""From finished games to figures, tables and plots: raw and variance-reduced points per game, and how well luck explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import Figure, RaccoonError
from raccoon.eval.arena.games import Played
from raccoon.play.dice import STRATUM_GAMES
from raccoon.report import plots
from raccoon.rng import generator

__all__ = ["Sample", "cost_figures", "draw", "games_equivalent", "luck_figures", "outcome_table", "result_figures", "sample", "verdict"]

_FEWEST_STRATA = 20


@dataclass(frozen=True)
class Sample:
    """Games that finished, capped ones left out: ``points float64[n]`` to the player, ``luck float64[n]`` or None.

    ``clusters``: the independent units, where games are not (stratified openings), else None.
    """

    points: NDArray[np.float64]
    luck: NDArray[np.float64] | None
    clusters: NDArray[np.int64] | None

    @property
    def reduced(self) -> NDArray[np.float64]:
        """``float64[n]``: points minus luck. Raises RaccoonError when luck was off."""
        if self.luck is None:
            raise RaccoonError("luck was off in these games: there is no variance-reduced result")
        return self.points - self.luck


def sample(played: Played, openings: str) -> Sample:
    """The finished games of a match. Raises RaccoonError when the turn cap stopped every game.

    Stratified openings balance blocks of ``STRATUM_GAMES`` games, so whole blocks are the units of the interval (given
    enough of them; with few, games count as independent, which is on the safe side).
    """
    done = ~played.capped
    if not done.any():
        raise RaccoonError("evaluator.turn_cap: every game was stopped by it; raise it")
    blocks = played.games[done] // STRATUM_GAMES
    stratified = openings == "stratified" and len(np.unique(blocks)) >= _FEWEST_STRATA
    luck = None if played.luck is None else played.luck[done]
    return Sample(played.points[done].astype(np.float64), luck, blocks if stratified else None)


def result_figures(games: Sample) -> dict[str, Figure]:
    """Points per game to the player, raw and (with luck) variance-reduced, and the share of games won."""
    figures = {"ppg_raw": stats.mean_ci(games.points, games.clusters)}
    if games.luck is not None:
        figures["ppg_vr"] = stats.mean_ci(games.reduced, games.clusters)
    figures["wins"] = stats.proportion_ci(int((games.points > 0).sum()), len(games.points))
    return figures


def luck_figures(games: Sample, seed: int) -> dict[str, Figure]:
    """Diagnostics of the control variate: mean luck and its t, SDs and their ratio (bootstrap), correlation, beta."""
    raw, luck, reduced = games.points, games.luck, games.reduced
    assert luck is not None
    n = len(raw)
    figures = {
        "mean_luck": stats.mean_ci(luck, games.clusters),
        "mean_luck_t": Figure(stats.t_statistic(luck, clusters=games.clusters), n=n),
    }
    figures["sd_raw"] = Figure(stats.mean_sd(raw)[1], n=n)
    figures["sd_vr"] = Figure(stats.mean_sd(reduced)[1], n=n)
    figures["sd_ratio"] = stats.sd_ratio_bootstrap(raw, reduced, generator(seed, "sd ratio bootstrap"), games.clusters)
    figures["games_equivalent"] = games_equivalent(figures["sd_ratio"])
    figures["correlation"] = stats.correlation(raw, luck)
    figures["beta"] = stats.beta(raw, luck)
    return figures


def games_equivalent(ratio: Figure) -> Figure:
    """How many raw games a variance-reduced one is worth, by the ratio of the SDs."""
    low, high = (None if edge is None else stats.games_equivalent(edge) for edge in (ratio.lo, ratio.hi))
    return Figure(stats.games_equivalent(ratio.value), low, high, ratio.n)


def verdict(figure: Figure, names: tuple[str, str]) -> str:
    """Who is the stronger (``names``: player, opponent), as far as the interval of the points per game shows it."""
    if figure.lo is not None and figure.lo > 0:
        return f"{names[0]} is the stronger: the interval lies above 0"
    if figure.hi is not None and figure.hi < 0:
        return f"{names[1]} is the stronger: the interval lies below 0"
    return "no difference is shown: the interval holds 0"


def cost_figures(played: Played) -> dict[str, Figure]:
    """Rolls a game, seconds a game of one worker, evaluations, games stopped by the turn cap."""
    n = len(played.games)
    figures = {
        "rolls_per_game": stats.mean_ci(played.rolls),
        "seconds_per_game": Figure(played.worker_seconds / n, n=n),
        "evaluations_player": Figure(played.evaluations[0]),
        "evaluations_opponent": Figure(played.evaluations[1]),
        "capped_games": Figure(int(played.capped.sum()), n=n),
    }
    if played.wall_seconds is not None:
        figures["games_per_second"] = Figure(n / played.wall_seconds, n=n)
    return figures


def outcome_table(games: Sample) -> Sequence[Mapping[str, Any]]:
    """How many games ended with each result, and their share."""
    names = {3: "backgammon won", 2: "gammon won", 1: "single game won", -1: "single game lost", -2: "gammon lost", -3: "backgammon lost"}
    counts = {points: int((games.points == points).sum()) for points in names}
    return [{"outcome": name, "games": counts[p], "share": counts[p] / len(games.points)} for p, name in names.items()]


def draw(games: Sample, title: str) -> dict[str, Any]:
    """Plots: convergence of the estimates with their bands and, with luck, the scatter of result on luck."""
    series = {"raw": games.points}
    if games.luck is None:
        return {"convergence": plots.convergence(series, "points per game", title)}
    series["variance reduced"] = games.reduced
    return {
        "convergence": plots.convergence(series, "points per game", title),
        "luck": plots.scatter(games.luck, games.points, "luck of the game, points", "result, points", title),
    }

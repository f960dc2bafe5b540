"""``evaluator=cube_arena``: full money games with a live cube, the luck of the dice taken out at the stake it was rolled for."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from raccoon import stats
from raccoon.checks import flag, quoted, whole
from raccoon.contracts import CubeRules, Figure, RaccoonError, Report
from raccoon.eval.arena import figures as arena_figures
from raccoon.eval.arena.base import GamesEvaluator, RecordedOptions
from raccoon.eval.arena.cube_luck import CONTROLS
from raccoon.eval.arena.games import Played, write_games
from raccoon.eval.arena.plan import MatchPlan
from raccoon.executor import Executor
from raccoon.rng import generator

__all__ = ["CubeArena"]


class CubeArena(GamesEvaluator):
    """Money games with a cube, seats alternated; both players double and answer for themselves. Killed runs continue.

    ``jacoby``, ``beavers``, ``cap``: see ``CubeRules``. ``luck``: the control variate behind the headline ``ppg_vr``,
    ``cubeful`` or ``cubeless`` (both are counted and reported, see ``raccoon.eval.arena.cube_luck``), or ``off``; the games are
    the same. ``match_length``: matches to so many points instead of money games (Kazaross-XG2 equities, Crawford rule),
    whose figure is the share of matches won, luck included. Other options as in ``VRArena``.
    """

    name = "cube_arena"

    def __init__(
        self,
        executor: Executor,
        games: int = 2000,
        shard_games: int = 125,
        jacoby: bool = False,
        beavers: bool = False,
        cap: int = 1024,
        luck: str | bool = "cubeful",
        match_length: int | None = None,
        **options: Unpack[RecordedOptions],
    ) -> None:
        for key, value in (("jacoby", jacoby), ("beavers", beavers)):
            flag(f"evaluator.{key}", value)
        if whole("evaluator.cap", cap, 1) & (cap - 1) or cap > 1 << 20:
            raise RaccoonError(f"evaluator.cap={cap}: give a power of two, 1 to {1 << 20} (1: the cube is never turned)")
        self.control = (CONTROLS[0] if luck else "off") if isinstance(luck, bool) else str(luck)
        if self.control not in (*CONTROLS, "off"):
            raise RaccoonError(f"evaluator.luck={quoted(luck)}: choose {', '.join(CONTROLS)} or off")
        if match_length is not None and (jacoby or beavers):
            raise RaccoonError(f"evaluator.match_length={match_length}: there is no Jacoby rule and there are no beavers in match play")
        rules = {"jacoby": jacoby, "beavers": beavers, "cap": cap}
        counted = self.control != "off" and match_length is None
        super().__init__(executor, MatchPlan(games, shard_games, luck=counted, cube=rules, match_length=match_length, **options))

    def describe(self, report: Report, played: Played, run_dir: Path, seed: int) -> None:
        """Fill ``report``, of money games or of matches."""
        money = self.plan.match_length is None
        if money:
            self._money(report, played, seed)
        else:
            self._matches(report, played)
        counts = _double_figures(played) | _cost_figures(played)
        report.figures |= counts if money else {_of_matches(name): figure for name, figure in counts.items()}
        if money:
            report.tables["cube"] = _cube_table(played)
        write_games(run_dir / "games.csv", played, CONTROLS[0] if self.control == "off" else self.control)
        report.files.append("games.csv")

    def _money(self, report: Report, played: Played, seed: int) -> None:
        if played.luck is None:
            games = arena_figures.sample(played, self.plan.openings)
            report.figures |= arena_figures.result_figures(games)
        else:
            samples = {
                name: arena_figures.sample(dataclasses.replace(played, luck=played.luck[:, column]), self.plan.openings)
                for column, name in enumerate(CONTROLS)
            }
            games = samples[self.control]
            report.figures |= arena_figures.result_figures(games)
            for name, one in samples.items():
                report.figures[f"ppg_vr_{name}"] = stats.mean_ci(one.reduced, one.clusters)
            if len(games.points) > 2:
                report.figures |= arena_figures.luck_figures(games, seed)
                for name, one in samples.items():
                    report.figures |= _control_figures(name, one, seed)
            report.notes.append(f"ppg_vr is by the {self.control} control variate; both are unbiased, the smaller sd_vr is the sharper one")
        report.plots |= arena_figures.draw(games, f"{played.names[0]} v {played.names[1]}")
        report.notes.append(arena_figures.verdict(report.figures.get("ppg_vr", report.figures["ppg_raw"]), played.names))
        rules = CubeRules(**(self.plan.cube or {}))
        report.notes.append(
            f"money games, cube live to {rules.cap}, {rules.flags()}; points are the player's, cube included; intervals are 95%"
        )

    def _matches(self, report: Report, played: Played) -> None:
        done = ~played.capped
        if not done.any():
            raise RaccoonError("evaluator.turn_cap: every match was stopped by it; raise it")
        report.figures["match_wins"] = stats.proportion_ci(int((played.points[done] > 0).sum()), int(done.sum()))
        report.notes.append(
            f"matches to {self.plan.match_length}; Kazaross-XG2 match equities, Crawford rule; the luck of the dice is not taken out, "
            "and doubles, drops and rolls are of whole matches"
        )


def _of_matches(name: str) -> str:
    """The name of a figure where what was played and counted are whole matches."""
    return re.sub(r"game(s?)(?=_|$)", lambda found: f"match{'es' if found[1] else ''}", name)


def _control_figures(name: str, games: arena_figures.Sample, seed: int) -> dict[str, Figure]:
    """How much of the spread one control variate takes away."""
    ratio = stats.sd_ratio_bootstrap(games.points, games.reduced, generator(seed, "sd ratio bootstrap"), games.clusters)
    return {f"sd_vr_{name}": Figure(stats.mean_sd(games.reduced)[1], n=len(games.points)), f"sd_ratio_{name}": ratio}


def _double_figures(played: Played) -> dict[str, Figure]:
    """Doubles a game (match) by each player, the share of them that the other side took, drops, beavers."""
    figures = {}
    offered, taken, beavered = played.doubles.transpose(2, 1, 0)
    for side, name in enumerate(("player", "opponent")):
        figures[f"doubles_per_game_{name}"] = stats.mean_ci(offered[side])
        if offered[side].sum():
            figures[f"taken_from_{name}"] = stats.proportion_ci(int(taken[side].sum()), int(offered[side].sum()))
    figures["drops_per_game"] = stats.mean_ci((offered - taken).sum(axis=0))
    figures["beavers"] = Figure(int(beavered.sum()), n=len(played.games))
    return figures


def _cost_figures(played: Played) -> dict[str, Figure]:
    figures = arena_figures.cost_figures(played)
    for side, name in enumerate(("player", "opponent")):
        if played.restarts[side]:
            figures[f"restarts_{name}"] = Figure(played.restarts[side])
    return figures


def _cube_table(played: Played) -> Sequence[Mapping[str, Any]]:
    """Games by the value of the cube at their end: how many, and the player's points in them."""
    rows = []
    for value in np.unique(played.cube).tolist():
        here = played.cube == value
        rows.append(
            {
                "cube at the end": value,
                "games": int(here.sum()),
                "share": float(here.mean()),
                "points per game": float(played.points[here].mean()),
            }
        )
    return rows

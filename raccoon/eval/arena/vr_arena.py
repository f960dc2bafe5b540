"""``evaluator=vr_arena``, ``arena``, ``gnubg_harness``: any player against any opponent, the luck of the dice taken out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Unpack

from raccoon import stats
from raccoon.checks import quoted, whole
from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.engine.gnubg_levels import ply_of
from raccoon.eval.arena import figures as arena_figures
from raccoon.eval.arena.base import GamesEvaluator, RecordedOptions
from raccoon.eval.arena.games import Played, write_games
from raccoon.eval.arena.plan import MatchPlan, Starts, luck_switch
from raccoon.eval.arena.short_matches import compare_arms
from raccoon.eval.arena.starts import by_group, read_starts
from raccoon.executor import Executor

__all__ = ["Arena", "ArenaOptions", "GnubgHarness", "VRArena", "level_node"]

_REPORTS = ("full", "verdict")


class ArenaOptions(RecordedOptions, total=False):
    """The options of ``VRArena``, which explains them."""

    games: int
    shard_games: int
    luck: str | bool
    report: str
    level: str | None
    blocks: Mapping[str, int] | None
    starts: str | Mapping[str, str] | None
    name: str | None


class VRArena(GamesEvaluator):
    """Cubeless money games, seats alternated. Killed runs continue from the shards in the run folder.

    ``games`` in shards of ``shard_games``; ``concurrent`` games live at a time in a worker. ``luck``: ``gnubg0`` takes
    GNUBG's 0-ply luck off every result, ``off`` does not compute it (the games are the same). ``openings``: ``random``
    or ``stratified`` (each of the 30 opening outcomes equally often). Games stopped by ``turn_cap`` rolls are counted
    apart. ``report``: ``full``, with diagnostics of the luck, costs and ``games.csv``; or ``verdict``, the short way: who is
    the stronger, and is that shown? ``level``: GNUBG at a level called by its name is the opponent (beginner, casual,
    intermediate, advanced, expert, world, supremo, grandmaster), whatever ``opponent`` says. ``name``: in the report.
    ``blocks: {count, games}`` plays something else, whatever ``games`` and ``shard_games`` say: ``count`` matches
    of its ``games`` games without and as many with variance reduction, on different dice, and compares the spread of
    the match results. ``starts``: a file of positions (an ID a line), or ``{group: file}``, from which the games start; their
    worth counts as luck, and the report has a row a group. ``record``: write the games as match text, ``matches/*.mat`` in the run
    folder, a session a shard.
    """

    name = "vr_arena"
    usual: ClassVar[ArenaOptions] = {"games": 6000, "shard_games": 250}

    def __init__(self, executor: Executor, **options: Unpack[ArenaOptions]) -> None:
        given: dict[str, Any] = {
            "luck": "gnubg0",
            "report": "full",
            "level": None,
            "blocks": None,
            "name": None,
            "starts": None,
            **self.usual,
            **options,
        }
        blocks, report, level, name = (given.pop(key) for key in ("blocks", "report", "level", "name"))
        starts = None if given["starts"] is None else self._readable(given)
        super().__init__(executor, MatchPlan(**{**given, "luck": luck_switch(given["luck"]), "starts": starts}))
        if report not in _REPORTS:
            raise RaccoonError(f"evaluator.report={quoted(report)}: choose {' or '.join(_REPORTS)}")
        self.name = name or self.name
        self.report: str = report
        self.level: str | None = level
        self.node = None if level is None else level_node(level)
        self.reads = ("player", "opponent") if level is None else ("player",)
        self.blocks = None if blocks is None else self._checked(blocks)

    @staticmethod
    def _readable(given: Mapping[str, Any]) -> Starts:
        """The positions of ``starts``, unless another option has no use for them."""
        if given.get("openings", "random") != "random":
            raise RaccoonError("evaluator.openings=stratified: evaluator.starts has no opening rolls; leave one of them out")
        if given.get("record"):
            raise RaccoonError("evaluator.record=true: match text begins at the starting position; leave evaluator.starts out")
        return read_starts(given["starts"])

    def _checked(self, blocks: Mapping[str, int]) -> tuple[int, int]:
        """How many short matches, and games in each."""
        if set(blocks) != {"count", "games"}:
            raise RaccoonError(f"evaluator.blocks={dict(blocks)}: give exactly count and games")
        if self.plan.record:
            raise RaccoonError("evaluator.record=true: evaluator.blocks keeps no games; leave one of them out")
        if self.plan.starts is not None:
            raise RaccoonError("evaluator.starts: evaluator.blocks has no use for it; leave one of them out")
        if self.report != "full":
            raise RaccoonError(f"evaluator.report={self.report}: evaluator.blocks has a report of its own; leave one of them out")
        if not self.plan.luck:
            raise RaccoonError("evaluator.luck=off: evaluator.blocks plays both arms, without luck and with it; leave luck at gnubg0")
        return whole("evaluator.blocks.count", blocks["count"], 2), whole("evaluator.blocks.games", blocks["games"], 1)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Play and report. See ``Evaluator.run``. With a ``level`` the opponent is the level's, whatever ``opponent`` says."""
        opponent = self.node or opponent
        if self.blocks is not None:
            report = compare_arms(self.executor, player, opponent, self.plan, self.blocks, Path(run_dir), seed)
            report.evaluator = self.name
        else:
            report = super().run(player, opponent, run_dir, seed)
        if self.node is not None:
            ply, package = self.node["engine"]["ply"], self.node["engine"]["package"]
            report.notes.append(f"the opponent is set by evaluator.level={self.level} (GNUBG {ply}-ply, {package} package)")
        return report

    def describe(self, report: Report, played: Played, run_dir: Path, seed: int) -> None:
        """Fill ``report``, in full or with the verdict alone."""
        games = arena_figures.sample(played, self.plan.openings)
        report.figures |= arena_figures.result_figures(games)
        report.tables["outcomes"] = arena_figures.outcome_table(games)
        report.plots |= arena_figures.draw(games, f"{played.names[0]} v {played.names[1]}")
        if self.report == "verdict":
            _judge(report, games)
        else:
            if games.luck is not None and len(games.points) > 2:
                report.figures |= arena_figures.luck_figures(games, seed)
            report.figures |= arena_figures.cost_figures(played)
            write_games(run_dir / "games.csv", played)
            report.files.append("games.csv")
            report.notes.append("points are the player's, at cube 1, without a cube; intervals are 95%, from the sample SD")
        if self.plan.starts is not None:
            report.tables["by start"] = by_group(self.plan.starts, played)
            report.notes.append("games start from given positions, whose worth by GNUBG 0-ply counts as luck of the side that has it")
        if games.clusters is not None:
            report.notes.append("openings are stratified: whole blocks of 60 games are the units of the intervals of the means")


class Arena(VRArena):
    """``VRArena`` with ``report="verdict"`` and 1,000 games, as it was once called."""

    name = "arena"
    usual: ClassVar[ArenaOptions] = {"games": 1000, "shard_games": 125, "report": "verdict"}


class GnubgHarness(VRArena):
    """``VRArena`` with a ``level`` and 1,000 games, as it was once called."""

    name = "gnubg_harness"
    usual: ClassVar[ArenaOptions] = {"games": 1000, "shard_games": 50, "level": "expert"}


def level_node(level: str) -> dict[str, Any]:
    """Config node of GNUBG playing at ``level``; above 0 ply by the pruned package, which is several times faster.

    Raises RaccoonError listing the levels.
    """
    ply = ply_of(level, "evaluator.level")
    engine = {"_target_": "raccoon.engine.GnubgEngine", "ply": ply, "package": "pruned" if ply else "nn"}
    return {"_target_": "raccoon.play.EnginePlayer", "name": f"gnubg {level}", "engine": engine}


def _judge(report: Report, games: arena_figures.Sample) -> None:
    """Who is the stronger, and how many games would show a difference of this size."""
    figure = report.figures.get("ppg_vr", report.figures["ppg_raw"])
    report.notes.append(arena_figures.verdict(figure, (report.player, str(report.opponent))))
    if games.luck is None or figure.value == 0 or len(games.points) < 2:
        return
    sd = stats.mean_sd(games.reduced)[1]
    if sd > 0:
        report.figures["games_to_resolve"] = Figure(stats.games_needed(sd, figure.value))
        report.notes.append("games_to_resolve: games at which a true difference of this size is found 4 times in 5")

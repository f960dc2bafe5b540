"""``evaluator=doubles``: what a player concedes when it plays doubles half by half instead of the whole turn at once.

Both arms use the same engine, so this isolates how a value is searched from how good it is. The games are played by
the greedy arm; at each of its turns both arms choose, and where they differ GNUBG prices the two resulting boards. On
other rolls the arms see the same children and must agree exactly: any concession there is a fault of the harness.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.config.instantiate import shared
from raccoon.contracts import Figure, Player, RaccoonError, Report, Step, Turns
from raccoon.engine.gnubg import GnubgEngine
from raccoon.eval.arena.base import GameOptions
from raccoon.eval.arena.games import run_games
from raccoon.eval.arena.plan import MatchPlan
from raccoon.executor import Executor
from raccoon.play.match import play_games, take_turns
from raccoon.play.observers import Progress
from raccoon.play.player import EnginePlayer
from raccoon.report import plots
from raccoon.search.half_by_half import two_step
from raccoon.search.lookahead import StaticSearch

__all__ = ["ConcessionObserver", "DoublesConcession"]

_COLUMNS = ("game", "double", "two_step", "differ", "gnubg0", "gnubg2")


class ConcessionObserver:
    """At each turn of player 0: does the joint choice differ from the one played, and by how much?

    ``table()`` gives one row a turn; ``gnubg0`` and ``gnubg2`` are points to the mover, joint minus greedy, 0 where
    the boards are the same; ``gnubg2`` is NaN throughout without a second price.
    """

    def __init__(self, joint: EnginePlayer, second_price: bool) -> None:
        self._joint = joint
        self._prices = [GnubgEngine(0), GnubgEngine(2, "pruned") if second_price else None]
        self._rows: list[dict[str, NDArray[Any]]] = []

    def rolled(self, step: Step) -> None:
        """Nothing."""

    def played(self, step: Step, turns: Turns, chosen: NDArray[np.int64]) -> None:
        """Compare the arms on the turns of player 0."""
        mine = np.flatnonzero(step.mover == 0)
        if len(mine) == 0:
            return
        part = take_turns(turns, mine)
        greedy, joint = chosen[mine], self._joint.choose(part)
        differ = greedy != joint
        after = [part.children[part.offsets[:-1][differ] + choice[differ]] for choice in (joint, greedy)]
        row: dict[str, NDArray[Any]] = {
            "game": step.games[mine],
            "double": part.dice[:, 0] == part.dice[:, 1],
            "two_step": two_step(part),
            "differ": differ,
        }
        for name, engine in zip(_COLUMNS[4:], self._prices, strict=True):
            conceded = np.zeros(len(mine)) if engine is not None else np.full(len(mine), np.nan)
            if engine is not None and differ.any():
                conceded[differ] = engine.points(after[1]) - engine.points(after[0])  # to the opponent, so reversed
            row[name] = conceded
        self._rows.append(row)

    def finished(self, games: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        """Nothing."""

    def table(self) -> dict[str, NDArray[Any]]:
        """The turns seen so far as columns: game, double, two_step, differ, gnubg0, gnubg2."""
        return {key: np.concatenate([row[key] for row in self._rows]) for key in _COLUMNS}


class DoublesConcession:
    """``games`` of the player's greedy arm against the opponent; ``second_price`` adds GNUBG 2-ply (pruned) as a judge."""

    name = "doubles"
    renamed: ClassVar[Mapping[str, str]] = {"batch": "concurrent"}

    def __init__(
        self, executor: Executor, games: int = 1500, shard_games: int = 100, second_price: bool = False, **options: Unpack[GameOptions]
    ) -> None:
        self.executor, self.plan = executor, MatchPlan(games, shard_games, luck=False, **options)
        self.second_price = bool(second_price)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """Play, compare and report. See ``Evaluator.run``. Raises RaccoonError for a player that has no engine."""
        job = {"player": player, "opponent": opponent, "seed": seed, "plan": self.plan.for_job(), "second_price": self.second_price}
        shards = run_games(self.executor, concession_shard, job, self.plan, Path(run_dir) / "shards", self.name)
        turns = {key: np.concatenate([shard[key] for shard in shards]) for key in _COLUMNS}
        names = shards[0]["names"]
        report = Report(self.name, str(names[0]), str(names[1]), seed, figures=_figures(turns, self.plan.games))
        report.tables["control"] = [_control(turns)]
        conceded = {"where the arms differ": turns["gnubg0"][turns["differ"]]}
        report.plots["concession"] = plots.histogram(conceded, "points conceded (GNUBG 0-ply)")
        report.notes.append("concession: joint minus greedy in points to the player; intervals are over whole games")
        report.notes.append("two-step turns: doubles on which more than one pair of half-moves is to be played")
        return report


def concession_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The turns of shard ``index`` as columns, and the names of the players."""
    plan = MatchPlan.of_job(job["plan"])
    player = shared(job["player"], "player", Player)
    engine = getattr(player, "engine", None)
    if engine is None:
        raise RaccoonError(f"player {player.name}: it has no engine, so its search cannot be changed; give an EnginePlayer")
    greedy = EnginePlayer(engine, StaticSearch("greedy"), name=f"{player.name} (greedy doubles)")
    observer = ConcessionObserver(EnginePlayer(engine, StaticSearch("joint")), job["second_price"])
    players = (greedy, shared(job["opponent"], "opponent", Player))
    play_games(
        players, plan.games_of(index), job["seed"], observers=[observer, Progress()], concurrent=plan.concurrent, turn_cap=plan.turn_cap
    )
    # by game, and within a game as played: the same table however many are played at a time
    table = observer.table()
    order = np.argsort(table["game"], kind="stable")
    names = np.array([player.name for player in players])
    return {key: column[order] for key, column in table.items()} | {"names": names}


def _figures(turns: Mapping[str, NDArray[Any]], games: int) -> dict[str, Figure]:
    scored, differ, game = turns["two_step"], turns["differ"], turns["game"]
    figures = {
        "turns": Figure(len(game)),
        "two_step_turns": Figure(int(scored.sum())),
        "two_step_turns_per_game": Figure(float(scored.sum()) / games, n=games),
    }
    if scored.any():
        figures["share_differing"] = stats.mean_ci(differ[scored], game[scored])
    for price in ("gnubg0", "gnubg2"):
        conceded = turns[price]
        if np.isnan(conceded).all():
            continue
        if differ.any():
            figures[f"concession_where_different_{price}"] = stats.mean_ci(conceded[differ], game[differ])
        if scored.any():
            figures[f"concession_per_two_step_turn_{price}"] = stats.mean_ci(conceded[scored], game[scored])
        figures[f"concession_per_game_{price}"] = stats.mean_ci(np.bincount(game, weights=conceded, minlength=games))
    return figures


def _control(turns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    plain = ~turns["double"]
    return {
        "turns without a double": int(plain.sum()),
        "arms differ": int(turns["differ"][plain].sum()),
        "largest concession": float(np.abs(turns["gnubg0"][plain]).max(initial=0.0)),
    }

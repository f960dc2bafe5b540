"""Games of one player against another, in shards: what every arena runs. A shard is a pure function of (job, index)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.build import shared
from raccoon.checks import whole
from raccoon.contracts import Player, RaccoonError
from raccoon.executor import Executor, run_shards
from raccoon.files import write_csv
from raccoon.play.dice import OPENING_MODES
from raccoon.play.match import play_games

__all__ = ["MatchPlan", "Played", "build_players", "luck_switch", "play_match", "write_games"]


def luck_switch(value: Any) -> bool:
    """Meaning of ``evaluator.luck``: ``gnubg0``, ``on`` or true; ``off`` or false."""
    if value in ("gnubg0", "on", True):
        return True
    if value in ("off", False):
        return False
    raise RaccoonError(f"evaluator.luck={value!r}: choose gnubg0 (on) or off")


@dataclass(frozen=True)
class MatchPlan:
    """Which games to play: global indices ``first .. first + games - 1`` in shards of ``shard_games``.

    ``batch`` games are live at a time in a worker; ``luck`` adds up the dice luck; ``openings`` as in ``play.dice``.
    """

    games: int
    shard_games: int = 250
    first: int = 0
    batch: int = 256
    luck: bool = True
    openings: str = "random"
    turn_cap: int = 1000

    def __post_init__(self) -> None:
        for name in ("games", "shard_games", "batch", "turn_cap"):
            whole(f"evaluator.{name}", getattr(self, name), 1)
        if self.openings not in OPENING_MODES:
            raise RaccoonError(f"evaluator.openings={self.openings!r}: choose one of {', '.join(OPENING_MODES)}")

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return -(-self.games // self.shard_games)

    def games_of(self, shard: int) -> NDArray[np.int64]:
        """Global indices ``int64[G]`` of the games of one shard."""
        start = shard * self.shard_games
        return self.first + np.arange(start, min(start + self.shard_games, self.games), dtype=np.int64)


@dataclass(frozen=True)
class Played:
    """Finished games: ``games, points, rolls int64[G]``, ``capped bool[G]``, ``luck float64[G]`` (None when off), all to player 0.

    ``worker_seconds`` is the time of the shards added up (start-up of workers and loading of players left out);
    ``wall_seconds`` that of this run from start to end, None when earlier shards were found and read;
    ``evaluations`` those of each side's engine (a player that plays itself counts once, under player 0).
    """

    names: tuple[str, str]
    games: NDArray[np.int64]
    points: NDArray[np.int64]
    rolls: NDArray[np.int64]
    capped: NDArray[np.bool_]
    luck: NDArray[np.float64] | None
    worker_seconds: float
    wall_seconds: float | None
    evaluations: tuple[int, int]


def build_players(player: Mapping[str, Any], opponent: Mapping[str, Any]) -> tuple[Player, Player]:
    """Both players; one object twice when the nodes are equal, so that the runner asks it once a step."""
    first = shared(player, "player")
    return first, first if dict(opponent) == dict(player) else shared(opponent, "opponent")


def play_match(
    executor: Executor,
    player: Mapping[str, Any],
    opponent: Mapping[str, Any] | None,
    plan: MatchPlan,
    seed: int,
    folder: Path,
    label: str,
) -> Played:
    """Play the games of ``plan``; shards already in ``folder`` are read. Raises RaccoonError when there is no opponent."""
    if opponent is None:
        raise RaccoonError("opponent: this measurement needs one, for example opponent=gnubg0")
    job = {"player": dict(player), "opponent": dict(opponent), "seed": seed, "plan": vars(plan)}
    fresh, began = not any(folder.glob("shard-*.npz")), time.perf_counter()
    shards = run_shards(executor, match_shard, job, plan.shards, folder, label)
    joined = {key: np.concatenate([shard[key] for shard in shards]) for key in ("games", "points", "rolls", "capped", "luck")}
    return Played(
        names=(str(shards[0]["names"][0]), str(shards[0]["names"][1])),
        games=joined["games"],
        points=joined["points"],
        rolls=joined["rolls"],
        capped=joined["capped"],
        luck=joined["luck"] if plan.luck else None,
        worker_seconds=float(sum(shard["seconds"] for shard in shards)),
        wall_seconds=time.perf_counter() - began if fresh else None,
        evaluations=(int(sum(shard["evaluations"][0] for shard in shards)), int(sum(shard["evaluations"][1] for shard in shards))),
    )


def match_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The games of shard ``index`` of a job of ``play_match``."""
    plan = MatchPlan(**job["plan"])
    games = plan.games_of(index)
    players = build_players(job["player"], job["opponent"])
    before = [_evaluations(player) for player in players]
    began = time.perf_counter()
    luck = np.zeros(len(games))
    observers = []
    if plan.luck:
        from raccoon.eval.luck import LuckObserver

        observers.append(LuckObserver(games))
    result = play_games(players, games, job["seed"], observers=observers, batch=plan.batch, openings=plan.openings, turn_cap=plan.turn_cap)
    if plan.luck:
        luck = observers[0].luck
    used = [_evaluations(player) - count for player, count in zip(players, before, strict=True)]
    if players[0] is players[1]:
        used[1] = 0
    return {
        "games": result.games,
        "points": result.points,
        "rolls": result.rolls,
        "capped": result.capped,
        "luck": luck,
        "names": np.array([player.name for player in players]),
        "seconds": time.perf_counter() - began,
        "evaluations": np.array(used, np.int64),
    }


def _evaluations(player: Player) -> int:
    return int(getattr(getattr(player, "engine", None), "evaluations", 0))


def write_games(path: Path, played: Played) -> None:
    """One line a game as CSV: game, seat of player 0, points and luck to player 0, their difference, rolls, capped."""
    reduced = None if played.luck is None else played.points - played.luck
    columns = {
        "game": played.games,
        "seat": played.games % 2,
        "points": played.points,
        "luck": played.luck,
        "vr": reduced,
        "rolls": played.rolls,
        "capped": played.capped.astype(np.int64),
    }
    lists = [[None] * len(played.games) if column is None else column.tolist() for column in columns.values()]
    write_csv(path, [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)])

"""How long games last, and how many of them end in a gammon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.checks import whole
from raccoon.contracts import Report
from raccoon import stats
from raccoon.eval.arena.games import build_players
from raccoon.executor import Executor, Work, run_shards
from raccoon.play.match import play_games
from raccoon.play.observers import Progress


class Lengths:
    """Plays ``games``, ``shard_games`` a shard; without an opponent the player plays itself."""

    name = "my_lengths"

    def __init__(self, executor: Executor, games: int = 1000, shard_games: int = 100) -> None:
        self.executor = executor
        self.games = whole("evaluator.games", games, 1)
        self.shard_games = whole("evaluator.shard_games", shard_games, 1)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        sides = {"player": dict(player), "opponent": dict(opponent or player)}
        job = {**sides, "seed": seed, "games": self.games, "shard_games": self.shard_games}
        count = -(-self.games // self.shard_games)
        work = Work(self.name, "games", [min(self.shard_games, self.games - start) for start in range(0, self.games, self.shard_games)])
        shards = run_shards(self.executor, lengths_shard, job, count, Path(run_dir) / "shards", work)
        rolls, points = (np.concatenate([shard[key] for shard in shards]) for key in ("rolls", "points"))
        report = Report(self.name, str(shards[0]["names"][0]), str(shards[0]["names"][1]), seed)
        report.figures["rolls"] = stats.mean_ci(rolls)
        report.figures["gammons"] = stats.proportion_ci(int((np.abs(points) > 1).sum()), len(points))
        found, games = np.unique(points, return_counts=True)
        report.tables["points"] = [{"points": int(p), "games": int(n)} for p, n in zip(found, games, strict=True)]
        return report


def lengths_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The games ``index * shard_games ...``; the last shard may be short."""
    players = build_players(job["player"], job["opponent"])
    first = index * job["shard_games"]
    games = np.arange(first, min(first + job["shard_games"], job["games"]))
    played = play_games(players, games, job["seed"], observers=[Progress()])
    return {"rolls": played.rolls, "points": played.points, "names": np.array([player.name for player in players])}

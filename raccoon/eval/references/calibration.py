"""``evaluator=calibration``: how the six chances of a player's engine compare with those of the references.

A chance is calibrated when positions that are given it have it on average. The benchmark's references stand for the truth, so their
own errors count as the engine's; a bias that all networks of one teacher share with the references is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.checks import whole
from raccoon.config.instantiate import build, shared
from raccoon.contracts import Engine, Figure, Player, RaccoonError, Report
from raccoon.engine.outcomes import flip, six_from_five
from raccoon.env import ragged
from raccoon.eval.benchmark.decisions import CheckerDecisions
from raccoon.eval.benchmark.loader import EMBEDDED, load, locate
from raccoon.eval.pr.checker_shards import Selection, digest, partition
from raccoon.eval.pr.scorer import BenchmarkScorer
from raccoon.executor import Executor, Work, run_shards
from raccoon.report import plots
from raccoon.rng import generator

__all__ = ["Calibration"]

CHANCES = ("single win", "gammon win", "backgammon win", "single loss", "gammon loss", "backgammon loss")
"""Of the player who made the play, each excluding the others."""
_MOST_BINS = 100
Floats = NDArray[np.float64]


class Calibration(BenchmarkScorer):
    """The six chances of the player's engine, without search, beside the references, of every candidate and of the best plays alone.

    ``bins``: groups of candidates by the chance they are given, of equal width from 0 to 1; ``bootstrap``: replicates, by game; the
    others say which decisions, see ``Selection``.
    """

    name = "calibration"
    reads = ("player",)

    def __init__(
        self,
        executor: Executor,
        bins: int = 10,
        benchmark: str = EMBEDDED,
        bootstrap: int = stats.REPLICATES,
        games: int | None = None,
        sample: int | None = None,
        sample_seed: int = 21,
        shard_games: int = 4,
    ) -> None:
        which = {"games": games, "sample": sample, "sample_seed": sample_seed, "shard_games": shard_games}
        super().__init__(executor, benchmark, bootstrap=bootstrap, **which)
        self.bins = whole("evaluator.bins", bins, 1)
        if self.bins > _MOST_BINS:
            raise RaccoonError(f"evaluator.bins={self.bins}: give at most {_MOST_BINS}; every group is bootstrapped")

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``; the opponent takes no part. Raises RaccoonError for a player whose engine knows no chances."""
        checker = self.load().checker
        judge = build(player, "player", Player)
        engine: Engine | None = getattr(judge, "engine", None)
        if engine is None or not getattr(engine, "has_probs", False):
            raise RaccoonError(f"player={judge.name}: calibration needs a player whose engine knows the six chances (head=outcomes6)")
        name = str(player.get("name") or engine.name)  # what the player searches plays no part
        given, wanted = self._given(player, checker, Path(run_dir) / "shards"), six_from_five(checker.probs5)
        result = Report(self.name, name, None, seed)
        best = ragged.argmax(checker.cubeless, checker.offsets)
        games = checker.games[checker.rows_of_candidates()]
        rows: list[Mapping[str, Any]] = []
        for label, picked in (("all", slice(None)), ("best", best)):
            for chance, mine, reference in zip(CHANCES, given[picked].T, wanted[picked].T, strict=True):
                rows.append({"candidates": label, "chance": chance, **self._row(mine, reference, games[picked], seed)})
        result.tables["The six chances"] = rows
        result.figures = {f"bias_{row['chance'].replace(' ', '_')}": row["bias"] for row in rows if row["candidates"] == "all"}
        groups = {chance: list(self._groups(given[:, i], wanted[:, i], games, seed)) for i, chance in enumerate(CHANCES)}
        result.tables["By the chance that is given"] = [{"chance": chance, **row} for chance, found in groups.items() for row in found]
        series = {chance: {row["given"]: row["bias"] for row in found} for chance, found in groups.items()}
        result.plots["calibration"] = plots.intervals(series, "chance given", "given minus reference", f"{name}: calibration")
        result.notes = [
            f"{len(checker):,} decisions of {len(np.unique(checker.games))} games, {len(games):,} candidates. Chances are those of the "
            "player who made the play.",
            f"bias: given minus reference, with intervals that bootstrap games ({self.bootstrap:,} replicates). slope: of the "
            "reference on what is given; below 1: high chances are too high and low ones too low.",
        ]
        return result

    def _given(self, player: Mapping[str, Any], checker: CheckerDecisions, folder: Path) -> Floats:
        parts = partition(checker, self.shard_games)
        job = {
            "player": dict(player), "selection": self.selection.as_dict(), "content": digest(locate(self.source)),
            "games": self.shard_games, "shards": len(parts),
        }  # fmt: skip
        work = Work("chances", "decisions", [len(part) for part in parts])
        found = run_shards(self.executor, chances_shard, job, len(parts), folder, work)
        given, rows = np.empty((len(checker.children), len(CHANCES))), checker.rows_of_candidates()
        for part, shard in zip(parts, found, strict=True):
            given[np.isin(rows, part)] = shard["chances"]
        return given

    def _row(self, given: Floats, wanted: Floats, games: NDArray[np.int64], seed: int) -> dict[str, Any]:
        centred = given - given.mean()
        spread = float(centred @ centred)
        return {
            "given": float(given.mean()),
            "reference": float(wanted.mean()),
            "bias": self._bias(given, wanted, games, seed),
            "RMS error": float(np.sqrt(np.mean((given - wanted) ** 2))),
            "slope": float(centred @ wanted / spread) if spread else float("nan"),
        }

    def _groups(self, given: Floats, wanted: Floats, games: NDArray[np.int64], seed: int) -> Iterator[dict[str, Any]]:
        numbers = np.minimum((given * self.bins).astype(np.int64), self.bins - 1)
        for number in np.unique(numbers):
            picked = numbers == number
            yield {
                "from": number / self.bins,
                "to": (number + 1) / self.bins,
                "candidates": int(picked.sum()),
                "given": float(given[picked].mean()),
                "reference": float(wanted[picked].mean()),
                "bias": self._bias(given[picked], wanted[picked], games[picked], seed),
            }

    def _bias(self, given: Floats, wanted: Floats, games: NDArray[np.int64], seed: int) -> Figure:
        return stats.bootstrap_mean(given - wanted, games, generator(seed, "calibration.bootstrap"), self.bootstrap)


def chances_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Shard ``index``: ``chances [M, 6]`` that the job's engine gives the player who made each candidate."""
    selection = Selection(**job["selection"])
    checker = selection.of(load(selection.source).checker)
    engine: Engine = shared(job["player"], "player", Player).engine
    part = checker.take(partition(checker, job["games"])[index])
    return {"chances": flip(engine.probs6(part.children).astype(np.float64))}

"""``evaluator=filter_recall``: how often a filter keeps the best play, and what asking it costs.

Every source of candidates ranks the plays of benchmark decisions; recall in the top k is the share of decisions whose best
play, by static value or by a full-width search, is among its first k.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raccoon import stats
from raccoon.checks import whole
from raccoon.config.instantiate import build, shared
from raccoon.contracts import Engine, Player, RaccoonError, Report
from raccoon.engine.base import policy_engine
from raccoon.env import ragged
from raccoon.env.movegen import enumerate_turns
from raccoon.eval.benchmark.loader import EMBEDDED, load, locate
from raccoon.eval.pr.checker_shards import Selection, digest, partition
from raccoon.eval.pr.scorer import BenchmarkScorer
from raccoon.executor import Executor, Work, run_shards
from raccoon.report import plots
from raccoon.search import Expectimax, Filter, child_values
from raccoon.search.filters import keep_best
from raccoon.search.priors import priors

__all__ = ["FilterRecall"]


class FilterRecall(BenchmarkScorer):
    """Recall of ``value`` (the player's static values), ``prune`` (a cheap engine, a node) and ``policy`` (where the player's engine
    has one) in the top ``ks``, of the static best and of the best at ``ply`` (full width).

    The other settings say which decisions, see ``Selection``."""

    name = "filter_recall"
    reads = ("player",)

    def __init__(
        self,
        executor: Executor,
        prune: Mapping[str, Any],
        ply: int = 1,
        ks: Sequence[int] = (1, 2, 4, 8, 16),
        benchmark: str = EMBEDDED,
        games: int | None = None,
        sample: int | None = None,
        sample_seed: int = 21,
        shard_games: int = 4,
    ) -> None:
        super().__init__(executor, benchmark, games=games, sample=sample, sample_seed=sample_seed, shard_games=shard_games)
        self.prune, self.ply = dict(prune), whole("evaluator.ply", ply, 1)
        self.ks = sorted({whole("evaluator.ks", k, 1) for k in ks})
        if not self.ks:
            raise RaccoonError("evaluator.ks is empty: name at least one number of candidates")

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``; the opponent takes no part."""
        checker = self.load().checker
        judge = build(player, "player", Player)
        if not hasattr(judge, "engine"):
            raise RaccoonError(f"player={judge.name}: filter_recall needs a player with an engine")
        job = {
            "player": dict(player),
            "prune": self.prune,
            "ply": self.ply,
            "selection": self.selection.as_dict(),
            "content": digest(locate(self.source)),
            "games": self.shard_games,
        }
        sizes = [len(rows) for rows in partition(checker, self.shard_games)]
        work = Work("filters", "decisions", sizes)
        parts = run_shards(self.executor, rank_shard, job | {"shards": len(sizes)}, len(sizes), Path(run_dir) / "shards", work)
        result = Report(self.name, judge.name, None, seed)
        sources = [key.removeprefix("ranks.") for key in parts[0] if key.startswith("ranks.")]
        curves: dict[str, list[float]] = {}
        plays = np.concatenate([part["plays"] for part in parts])
        kept = {k: round(float(np.minimum(plays, k).mean()), 2) for k in self.ks}
        rows: list[Mapping[str, Any]] = []
        for source in sources:
            ranks = np.concatenate([part[f"ranks.{source}"] for part in parts])
            for column, best in enumerate(("static", f"{self.ply}-ply")):
                found = {k: stats.proportion_ci(int((ranks[:, column] < k).sum()), len(ranks)) for k in self.ks}
                rows += [
                    {"source": source, "best play by": best, "k": k, "candidates": kept[k], "recall": figure} for k, figure in found.items()
                ]
                result.figures.update({f"{source}.top{k}_{best}": figure for k, figure in found.items()})
                curves[f"{source}, {best}"] = [figure.value for figure in found.values()]
        result.tables["Recall"] = rows
        decisions = len(checker)
        result.tables["Cost of asking"] = [
            {
                "source": source,
                "evaluations/decision": round(sum(float(part[f"evaluations.{source}"]) for part in parts) / decisions, 1),
                "s/decision": sum(float(part[f"seconds.{source}"]) for part in parts) / decisions,
            }
            for source in sources
        ]
        result.notes = [f"{decisions:,} decisions with {plays.mean():.1f} plays each on average; {(plays == 1).mean():.1%} have one."]
        if "policy" not in sources:
            result.notes.append(f"{judge.name} has no policy head, so the policy source is left out.")
        result.plots["recall"] = plots.lines(self.ks, curves, "candidates kept (k)", "share of decisions whose best play is among them")
        return result


def rank_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Shard ``index``: place of the best plays (columns: static, deep) in the order of every source, and what asking it cost."""
    selection = Selection(**job["selection"])
    checker = selection.of(load(selection.source).checker)
    part = checker.take(partition(checker, job["games"])[index])
    turns = enumerate_turns(part.boards, part.dice)
    engine, cheap = shared(job["player"], "player", Player).engine, shared(job["prune"], "evaluator.prune", Engine)
    static = child_values(turns, engine).values
    deep = Expectimax(job["ply"], Filter("none")).values(turns, engine).values
    best = np.stack([keep_best(values, turns.offsets, 1)[0] for values in (static, deep)], axis=1)
    rankers: dict[str, Any] = {"value": lambda: child_values(turns, engine).values, "prune": lambda: child_values(turns, cheap).values}
    if policy_engine(engine) is not None:
        rankers["policy"] = lambda: priors(turns, engine)
    out: dict[str, Any] = {"plays": np.diff(turns.offsets)}
    for source, ask in rankers.items():
        before, start = engine.evaluations + cheap.evaluations, time.process_time()
        values = ask()
        out[f"seconds.{source}"] = time.process_time() - start
        out[f"evaluations.{source}"] = engine.evaluations + cheap.evaluations - before
        out[f"ranks.{source}"] = ragged.ranks(values, turns.offsets)[best]
    return out

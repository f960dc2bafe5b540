"""Scores a player's choices against a benchmark: the pure part, shared by every evaluator and by training callbacks.

Performance rating (PR) is 500 times the mean equity given away per checker decision over the listed candidates, best
and chosen both by the reference. Intervals bootstrap whole games, since decisions of one game are alike.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import PR_SCALE, Boards, CubeRules, Figure, Player, RaccoonError
from raccoon.cube_rules import OWNER_NAMES
from raccoon.env import ragged
from raccoon.env.board import is_race
from raccoon.eval.benchmark.decisions import CheckerDecisions
from raccoon.play.player import EnginePlayer, best_children
from raccoon.rng import generator
from raccoon.search.lookahead import StaticSearch

__all__ = [
    "PR_SCALE",
    "Decided",
    "Metric",
    "Scores",
    "accuracy",
    "accuracy_tables",
    "choose",
    "cube_blind_loss",
    "group_masks",
    "pr",
    "score",
]

Metric = Literal["cubeless", "cubeful"]


@dataclass(frozen=True)
class Decided:
    """What a player did: ``chosen int64[N]`` candidate within each row; ``points float64[M]`` its engine's points of
    every candidate to the mover (NaN where it has no engine); ``seconds`` (of processor time, so that other
    programs do not count) and ``evaluations`` of the choosing alone."""

    chosen: NDArray[np.int64]
    points: NDArray[np.float64]
    seconds: float
    evaluations: int


@dataclass(frozen=True)
class Scores:
    """A player's result on ``checker``: ``loss float64[N]`` points given away at each decision, by ``metric``."""

    name: str
    checker: CheckerDecisions
    metric: Metric
    loss: NDArray[np.float64]
    decided: Decided

    @property
    def seconds(self) -> float:
        """Seconds per decision."""
        return self.decided.seconds / len(self.loss)

    @property
    def has_values(self) -> bool:
        """Whether the player's engine valued the candidates."""
        return not bool(np.isnan(self.decided.points).any())


def choose(player: Player, checker: CheckerDecisions, rules: CubeRules | None = None) -> Decided:
    """Ask ``player`` for its plays and, outside the clock, its engine for the cubeless value of every candidate.

    ``rules``: those of the live cube that the plays are made with; None: no cube is in play.
    """
    turns = checker.turns(rules)
    engine, search = getattr(player, "engine", None), getattr(player, "search", None)
    before = int(getattr(engine, "evaluations", 0))
    start = time.process_time()
    if type(player) is EnginePlayer and type(search) is StaticSearch and search.doubles == "joint" and not player.cubeful(turns.cubes):
        # The values that decide are the engine's own: one pass gives both.
        result = search.values(turns, player.engine)
        chosen = best_children(result.values, result.full, turns.offsets)
        seconds = time.process_time() - start
        return Decided(chosen, 3.0 * result.values, seconds, int(player.engine.evaluations) - before)
    chosen = np.asarray(player.choose(turns))
    seconds = time.process_time() - start
    evaluations = int(getattr(engine, "evaluations", 0)) - before
    if chosen.shape != (len(checker),) or (chosen < 0).any() or (chosen >= np.diff(turns.offsets)).any():
        raise RaccoonError(
            f"player {player.name}: choose() gave {chosen.shape} choices for {len(checker)} decisions, or one outside its row"
        )
    return Decided(chosen.astype(np.int64), _points(engine, turns.children), seconds, evaluations)


def _points(engine: Any, children: Boards) -> NDArray[np.float64]:
    if engine is None:
        return np.full(len(children), np.nan)
    return -3.0 * np.asarray(engine.value(children), np.float64)


def score(name: str, checker: CheckerDecisions, decided: Decided, metric: Metric = "cubeless") -> Scores:
    """Price the choices by the reference's ``cubeless`` or ``cubeful`` equity."""
    equity = checker.cubeless if metric == "cubeless" else checker.equity
    loss = np.maximum(checker.loss(equity)[checker.offsets[:-1] + decided.chosen], 0.0)
    return Scores(name, checker, metric, loss, decided)


def cube_blind_loss(checker: CheckerDecisions) -> NDArray[np.float64]:
    """``float64[N]``: points of cubeful equity that the play gives away which is best by the reference's cubeless equity (the first of
    equals). No player that ranks its plays without the cube, however well, can avoid that."""
    return checker.loss(checker.equity)[ragged.argmax(checker.cubeless, checker.offsets)]


def pr(scores: Scores, seed: int, replicates: int = stats.REPLICATES, rows: NDArray[np.bool_] | None = None) -> Figure:
    """PR over all rows or those of a mask, with the bootstrap interval by game. The same draws serve every player."""
    picked = slice(None) if rows is None else rows
    rng = generator(seed, "bgsage_pr.bootstrap")
    return stats.bootstrap_mean(scores.loss[picked], scores.checker.games[picked], rng, replicates, PR_SCALE)


def group_masks(checker: CheckerDecisions) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """Masks ``bool[N]`` of the groups that PR is broken down by: tier, game plan, contact or race, kind of roll, cube owner."""
    race = is_race(checker.boards)
    owners = {name: checker.cubes.owner == owner for owner, name in OWNER_NAMES.items()}
    doubles = checker.dice[:, 0] == checker.dice[:, 1]
    return {
        "tier": {str(tier): checker.tiers == tier for tier in np.unique(checker.tiers)},
        "game plan": {str(plan): checker.plans == plan for plan in np.unique(checker.plans)},
        "contact": {name: mask for name, mask in (("contact", ~race), ("race", race)) if mask.any()},
        "roll": {name: mask for name, mask in (("doubles", doubles), ("other rolls", ~doubles)) if mask.any()},
        "cube": {name: mask for name, mask in owners.items() if mask.any()},
    }


def accuracy(
    scores: Scores, seed: int, replicates: int = stats.REPLICATES, candidates: NDArray[np.bool_] | None = None
) -> dict[str, Figure]:
    """``mse`` (points squared) and ``r2`` of the engine's cubeless values of the candidates, intervals by game.

    R2 = 1 - SSE / SST about the mean reference of the candidates; of a mask ``bool[M]`` where given.
    """
    picked = slice(None) if candidates is None else candidates
    reference = scores.checker.cubeless[picked]
    games = scores.checker.games[scores.checker.rows_of_candidates()][picked]
    centred = reference - reference.mean()
    squared = (scores.decided.points[picked] - reference) ** 2
    sums = stats.cluster_sums(np.column_stack([np.ones(len(reference)), squared, centred, centred**2]), games)

    def both(total: NDArray[np.float64]) -> NDArray[np.float64]:
        n, sse, s, ss = total.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.column_stack([sse / n, 1 - sse / (ss - s * s / n)])

    value = both(sums.sum(axis=0, keepdims=True))[0]
    n = len(reference)
    if len(sums) < 2:
        return {"mse": Figure(float(value[0]), n=n), "r2": Figure(float(value[1]), n=n)}
    draws = stats.cluster_bootstrap(sums, both, generator(seed, "bgsage_pr.accuracy"), replicates)
    return {name: stats.percentile_figure(float(value[i]), draws[:, i], n) for i, name in enumerate(("mse", "r2"))}


def accuracy_tables(scores: Scores, seed: int, replicates: int) -> dict[str, list[Mapping[str, Any]]]:
    """Value accuracy by tier and by how the reference of each candidate was made; empty without values."""
    if not scores.has_values:
        return {}
    tiers = scores.checker.tiers[scores.checker.rows_of_candidates()]
    tables = {}
    for title, labels in (("tier", tiers), ("reference level", scores.checker.levels)):
        rows: list[Mapping[str, Any]] = []
        for label in np.unique(labels):
            figures = accuracy(scores, seed, replicates, labels == label)
            rows.append({title: str(label), "candidates": figures["mse"].n, "MSE": figures["mse"], "R2": figures["r2"]})
        tables[f"Value accuracy by {title}"] = rows
    return tables

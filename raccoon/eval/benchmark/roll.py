"""Measured references: decisions of a benchmark rolled out to the end of the game, the cube included.

Cube decisions, and checker plays whose best candidates are close, are played out with the luck taken out (see
``raccoon.search.rollout.cubeful``). All that belongs to a decision meets the same dice, so that the standard error of a difference is
known beside those of the values. What was rolled out has tier ``rollout`` and level ``Rollout``; all else stays as it is, but for
candidates of a rolled decision that were not close: they keep their distance to the candidate that was best before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, whole
from raccoon.config.instantiate import shared
from raccoon.contracts import OPPONENT, Boards, CubeRules, Cubes, Engine, RaccoonError
from raccoon.cube.choice import with_beavers
from raccoon.cube.model import Janowski
from raccoon.engine.outcomes import five_from_six, flip
from raccoon.env import ragged
from raccoon.env.board import terminal_points
from raccoon.eval.benchmark.decisions import MEASURED_LEVEL, MEASURED_TIER, Benchmark, CheckerDecisions, CubeDecisions
from raccoon.eval.benchmark.loader import load
from raccoon.executor import Executor, Work, run_shards
from raccoon.search.rollout.cubeful import CubefulTrials, Lines, roll_cubeful
from raccoon.search.tree import Tree

__all__ = ["RollPlan", "close_candidates", "is_rolled", "roll_benchmark", "roll_decision"]

_ENGINE: dict[str, Any] = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
_PRUNE: dict[str, Any] = {"_target_": "raccoon.engine.NetEngine.load", "path": "prune"}
_ROLLED = "rolled"


@dataclass(frozen=True)
class RollPlan:
    """``trials`` games (36 share out the first roll) of each position, dice of stream ``seed``, plays by ``engine`` (a node), which
    looks at those that ``prune`` (a node; null: all) shortlists.

    ``games``: decisions of so many games, those of lowest number (null: all). ``cube``: whether cube decisions are rolled out.
    ``checker``: how many checker plays, the closest first (null: all that are close): those with two candidates or more within
    ``close`` points of the best, cubeless, of which the best ``most`` are rolled out.
    """

    trials: int = 144
    seed: int = 1
    games: int | None = None
    cube: bool = True
    checker: int | None = None
    close: float = 0.02
    most: int = 3
    engine: dict[str, Any] = field(default_factory=lambda: dict(_ENGINE))
    prune: dict[str, Any] | None = field(default_factory=lambda: dict(_PRUNE))

    def __post_init__(self) -> None:
        whole("roll.trials", self.trials, 2)
        whole("roll.seed", self.seed, 0)
        whole("roll.most", self.most, 2)
        number("roll.close", self.close, "points of 0 or more")
        for name, least in (("games", 1), ("checker", 0)):
            if getattr(self, name) is not None:
                whole(f"roll.{name}", getattr(self, name), least)
        tree = self.tree()
        if not tree.engine.has_probs:
            raise RaccoonError(f"roll.engine: {tree.engine.name} knows no outcome chances; give an engine that does")

    def tree(self) -> Tree:
        """What picks the plays. Raises RaccoonError naming a node that is no engine."""
        prune = None if self.prune is None else shared(self.prune, "roll.prune", Engine)
        return Tree(shared(self.engine, "roll.engine", Engine), prune=prune)


def roll_benchmark(executor: Executor, source: str, plan: RollPlan, folder: Path) -> Benchmark:
    """Roll out the chosen decisions of ``source``; finished ones wait in ``folder``. Raises RaccoonError when the plan chooses none."""
    benchmark = load(source, "IN")
    cubes, plays = _chosen(benchmark, plan)
    rows = [("cube", row) for row in cubes.tolist()] + [("checker", row) for row in plays.tolist()]
    if not rows:
        raise RaccoonError(f"{source}: no decision to roll out; raise roll.close or roll.checker, or set cube=true")
    job = {"source": source, "plan": asdict(plan), "rows": rows}
    found = run_shards(executor, roll_decision, job, len(rows), folder, Work("rollouts", "decisions", [1] * len(rows)))
    kinds = Counter(kind for kind, _ in rows)
    about = {"source": source, "decisions": dict(kinds), "plan": asdict(plan)}
    cube = _with_cube(benchmark.cube, cubes, found[: len(cubes)])
    checker = _with_checker(benchmark.checker, plays, plan, found[len(cubes) :])
    return replace(benchmark, cube=cube, checker=checker, meta=_meta(benchmark, about, checker, cube))


def is_rolled(benchmark: Benchmark, source: str, plan: RollPlan) -> bool:
    """Whether ``benchmark`` says that it is ``source``, rolled out to ``plan``."""
    rolled = benchmark.meta.get(_ROLLED)
    last = rolled[-1] if isinstance(rolled, list) and rolled else {}
    return isinstance(last, dict) and (last.get("source"), last.get("plan")) == (source, asdict(plan))


def roll_decision(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Shard ``index``: one decision. ``equity`` cubeful, of waiting and of double and take, or of each candidate; ``cubeless``, ``probs5``
    of the positions; standard errors of ``equity`` (candidates: of ``cubeless``) and of differences, see ``CheckerDecisions``."""
    plan, (kind, row) = RollPlan(**job["plan"]), job["rows"][index]
    benchmark = load(job["source"], "IN")
    tree = plan.tree()
    if kind == "cube":
        return _roll_cube(benchmark.cube.take(np.array([row])), benchmark.rules, plan, tree)
    one = benchmark.checker.take(np.array([row]))
    return _roll_plays(one, close_candidates(one, plan.close, plan.most), benchmark.rules, plan, tree)


def close_candidates(checker: CheckerDecisions, close: float, most: int) -> NDArray[np.bool_]:
    """``bool[M]``: the best ``most`` candidates of each decision by ``cubeless`` that are within ``close`` points of its best and leave
    the game going on; none where fewer than two are."""
    picked = (
        (ragged.ranks(checker.cubeless, checker.offsets) < most)
        & (checker.loss(checker.cubeless) <= close)
        & (terminal_points(checker.children) == 0)
    )
    return picked & ragged.spread(ragged.row_sum(picked, checker.offsets) > 1, checker.offsets)


def _chosen(benchmark: Benchmark, plan: RollPlan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the cube decisions and of the checker plays to roll out, the closest first."""
    cube, checker = benchmark.cube, benchmark.checker
    games = np.unique(np.concatenate([cube.games, checker.games]))[: plan.games]
    allowed = cube.cubes.under(benchmark.rules).may_double() & np.isin(cube.games, games) & plan.cube
    picked = close_candidates(checker, plan.close, plan.most)
    rows = np.flatnonzero((ragged.row_sum(picked, checker.offsets) > 0) & np.isin(checker.games, games))
    loss = np.where(picked, checker.loss(checker.cubeless), np.inf)
    loss[ragged.argmax(-loss, checker.offsets)] = np.inf
    gap = -ragged.row_max(-loss, checker.offsets)[rows]
    return np.flatnonzero(allowed), rows[np.argsort(gap, kind="stable")][: plan.checker]


def _roll_cube(one: CubeDecisions, rules: CubeRules, plan: RollPlan, tree: Tree) -> dict[str, Any]:
    value, owner = int(one.cubes.value[0]), int(one.cubes.owner[0])
    cubes = Cubes(np.array([value, 2 * value], np.int32), np.array([owner, OPPONENT], np.int8), rules)
    trials = _trials(one.boards, cubes, np.zeros(2, np.int64), np.zeros(2, bool), plan, tree)
    points = trials.equity / value
    taken = points[1:].mean(axis=1)
    points[1] *= np.where(with_beavers(taken, one.cubes.under(rules)) != taken, 2.0, 1.0)
    return _result(points, trials, _error(points), _error(points[1:] - points[:1]))


def _roll_plays(one: CheckerDecisions, picked: NDArray[np.bool_], rules: CubeRules, plan: RollPlan, tree: Tree) -> dict[str, Any]:
    children = one.children[picked]
    cubes = one.cubes.under(rules).take(np.zeros(len(children), np.int64))
    each = np.arange(len(children))
    trials = _trials(children, cubes.flipped(), each, np.ones(len(each), bool), plan, tree)
    seen = CubefulTrials(-trials.equity, flip(trials.probs6))
    best = int(np.argmax(seen.cubeless.mean(axis=1)))
    return _result(seen.equity / cubes.value[:, None], seen, _error(seen.cubeless), _error(seen.cubeless - seen.cubeless[best]))


def _trials(
    boards: Boards, cubes: Cubes, position: NDArray[np.int64], acts: NDArray[np.bool_], plan: RollPlan, tree: Tree
) -> CubefulTrials:
    return roll_cubeful(boards, Lines(position, cubes, acts), tree, Janowski(), plan.trials, plan.seed)


def _error(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard errors of the means of ``samples [K, T]``."""
    return samples.std(axis=1, ddof=1) / np.sqrt(samples.shape[1])


def _result(points: NDArray[np.float64], trials: CubefulTrials, error: NDArray[np.float64], paired: NDArray[np.float64]) -> dict[str, Any]:
    six = np.maximum(trials.probs6.mean(axis=1), 0.0)  # corrected means of rare outcomes can come out below 0
    probs5 = five_from_six(six / six.sum(axis=1, keepdims=True))
    numbers = {"equity": points.mean(axis=1), "cubeless": trials.cubeless.mean(axis=1), "probs5": probs5}
    return {name: np.round(values, 6) for name, values in (numbers | {"std_error": error, "difference_se": paired}).items()}


def _with_cube(cube: CubeDecisions, rows: NDArray[np.int64], found: list[dict[str, Any]]) -> CubeDecisions:
    """``cube`` with what was found at ``rows``."""
    if not len(rows):
        return cube
    equity, error, paired = (np.stack([one[name] for one in found]) for name in ("equity", "std_error", "difference_se"))
    probs5 = np.stack([one["probs5"][0] for one in found])
    return replace(
        cube,
        no_double=_put(cube.no_double, rows, equity[:, 0]),
        double_take=_put(cube.double_take, rows, equity[:, 1]),
        probs5=_put(cube.probs5, rows, probs5),
        no_double_se=_put(cube.no_double_se, rows, error[:, 0]),
        double_take_se=_put(cube.double_take_se, rows, error[:, 1]),
        difference_se=_put(cube.difference_se, rows, paired[:, 0]),
        **_labels(cube, rows, rows),
    )


def _with_checker(checker: CheckerDecisions, rows: NDArray[np.int64], plan: RollPlan, found: list[dict[str, Any]]) -> CheckerDecisions:
    """``checker`` with what was found at ``rows``; their other candidates keep their distance to the one that was best before."""
    if not len(rows):
        return checker
    picked = close_candidates(checker, plan.close, plan.most)
    at = np.concatenate([checker.offsets[row] + np.flatnonzero(picked[slice(*checker.offsets[row : row + 2])]) for row in rows])
    joined = {name: np.concatenate([one[name] for one in found]) for name in ("equity", "cubeless", "probs5", "std_error", "difference_se")}
    new = {name: _put(getattr(checker, name), at, values) for name, values in joined.items()}
    others = np.isin(checker.rows_of_candidates(), rows)
    others[at] = False
    before = ragged.argmax(checker.cubeless, checker.offsets)
    for name, most in (("equity", np.inf), ("cubeless", 3.0)):
        moved = ragged.spread((new[name] - getattr(checker, name))[before], checker.offsets)
        new[name][others] = np.clip(new[name] + moved, -most, most)[others]
    return replace(checker, **new, **_labels(checker, rows, at))


def _put(column: NDArray[Any], rows: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    out = column.copy()
    out[rows] = values
    return out


def _labels(part: CheckerDecisions | CubeDecisions, rows: NDArray[np.int64], at: NDArray[np.int64]) -> dict[str, Any]:
    """Tier of the decisions ``rows`` and level of what is ``at`` them: what tells measured references from others."""
    tiers, levels = (column.astype(np.promote_types(column.dtype, f"U{len(MEASURED_TIER)}")) for column in (part.tiers, part.levels))
    tiers[rows], levels[at] = MEASURED_TIER, MEASURED_LEVEL
    return {"tiers": tiers, "levels": levels}


def _meta(benchmark: Benchmark, about: Mapping[str, Any], checker: CheckerDecisions, cube: CubeDecisions) -> dict[str, Any]:
    """The meta of the rolled file: its tiers, and what was rolled out how, the latest last."""
    tiers = Counter([*checker.tiers.tolist(), *cube.tiers.tolist()])
    return {**benchmark.meta, "tier_counts": dict(tiers), _ROLLED: [*benchmark.meta.get(_ROLLED, []), dict(about)]}

"""``evaluator=cube_fit``: Janowski's cube model against reference equities, like for like, and the index that they ask for.

The model turns outcome chances into a cubeful equity. References give both, so the model is measured alone: each of its
three formulas (cube owned, centred, the other side's) on its own positions. No player takes part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.checks import number, quoted, whole
from raccoon.config.instantiate import build
from raccoon.contracts import Engine, Figure, RaccoonError, Report
from raccoon.cube.exact_bearoff import MOST, CubefulBearoff
from raccoon.eval.benchmark.decisions import CheckerDecisions, CubeDecisions
from raccoon.eval.benchmark.loader import EMBEDDED
from raccoon.eval.cube_fit import tables as cube_fit_tables
from raccoon.eval.cube_fit.comparisons import cube_blind_table, formulas_table, questions_table
from raccoon.eval.cube_fit.index import GRID, JanowskiOnReferences
from raccoon.eval.cube_fit.moves import moves_table
from raccoon.eval.cube_fit.references import LOCATIONS, TRUNCATED, Evidence, ReferenceEquities, as_after_a_play, classes
from raccoon.eval.cube_fit.variants import ONE_INDEX, SHIFTED, decisions_table
from raccoon.eval.cube_fit.volatility import ReferenceSelection, selected, volatility
from raccoon.executor import Executor
from raccoon.report import plots

__all__ = ["CubeFit"]

_ALL_POSITIONS = 6
"""Checkers of the largest table that is measured whole."""


class CubeFit:
    """Bias, RMSE and best index of the model; see the module docstring.

    ``reference``: ``benchmark`` (the equities of the candidates and cube decisions in the file ``benchmark``) or ``exact`` (bear-offs
    of at most ``checkers`` a side, ``positions`` of them; null: all). ``references``: which of a benchmark's count: ``best`` (the best
    kind that it has), ``measured`` (rollouts to completion, else an error) or ``all``. ``engine``: a node, what values the next
    rolls for the volatility of up to ``volatility`` boards (0: none). ``cube_window``: exact cube decisions within so many points
    of indifference count. Raises RaccoonError naming the key.
    """

    name = "cube_fit"
    reads = ()

    def __init__(
        self,
        executor: Executor,
        engine: Mapping[str, Any],
        reference: str = "benchmark",
        benchmark: str = EMBEDDED,
        references: str = "best",
        games: int | None = None,
        checkers: int = 6,
        positions: int | None = 20_000,
        cube_window: float = 0.25,
        volatility: int = 4000,
        shard_boards: int = 500,
        bootstrap: int = 2000,
    ) -> None:
        for key, value, options in (
            ("reference", reference, ("benchmark", "exact")),
            ("references", references, ("best", "measured", "all")),
        ):
            if value not in options:
                raise RaccoonError(f"evaluator.{key}={quoted(value)}: choose {', '.join(options)}")
        if whole("evaluator.checkers", checkers, 1) > MOST:
            raise RaccoonError(f"evaluator.checkers={checkers}: give 1 to {MOST}")
        if positions is None and checkers > _ALL_POSITIONS:
            raise RaccoonError(f"evaluator.positions=null: with more than {_ALL_POSITIONS} checkers a side give a number of positions")
        self.executor, self.engine = executor, dict(engine)
        self.reference, self.benchmark, self.references = reference, str(benchmark), references
        self.games = None if games is None else whole("evaluator.games", games, 1)
        self.checkers = checkers
        self.positions = None if positions is None else whole("evaluator.positions", positions, 1)
        self.cube_window = number("evaluator.cube_window", cube_window, "a number of points above 0", above=True)
        self.volatility = whole("evaluator.volatility", volatility, 0)
        self.shard_boards = whole("evaluator.shard_boards", shard_boards, 1)
        self.bootstrap = whole("evaluator.bootstrap", bootstrap, 1)

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        """See ``Evaluator.run``; neither player takes part."""
        plan = ReferenceSelection(
            self.reference, self.benchmark, self.references, self.games, self.checkers, self.positions, self.cube_window, seed
        )  # fmt: skip
        if self.volatility:
            build(self.engine, "evaluator.engine", Engine)  # a missing file is told before anything is measured
        evidence, references = plan.evidence(), selected(plan)
        result = Report(self.name, "janowski", None, seed)
        self._equities(result, evidence, references, seed)
        result.tables["Beside Janowski's equations 5 to 7"] = formulas_table(references)
        if evidence.checker is not None:
            self._plays(result, evidence.checker, evidence, references, seed)
        for label, cube in self._decisions(plan, evidence):
            self._cube(result, label, cube, evidence, seed)
        if self.volatility:
            part, spread = volatility(
                self.executor, plan, self.engine, self.volatility, self.shard_boards, Path(run_dir) / "shards" / "volatility"
            )
            result.tables["Best index by volatility"] = cube_fit_tables.by_volatility(part, spread, seed, self.bootstrap)
        result.notes = _notes(evidence, references)
        return result

    def _equities(self, result: Report, evidence: Evidence, references: ReferenceEquities, seed: int) -> None:
        """The tables and plots about equities."""
        rows = cube_fit_tables.by_location(references, seed, self.bootstrap)
        result.tables["The three formulas"] = rows
        for row in rows:
            if row["positions"] == "all":
                result.figures[f"best_x_{row['cube']}"] = row["best x"]
                result.figures[f"bias_{row['cube']}"] = row["bias at .68"]
                result.figures[f"rmse_{row['cube']}"] = Figure(row["RMSE at .68"], n=row["n"])
        if self.reference == "exact":
            after = as_after_a_play(references, CubefulBearoff(self.checkers))
            result.tables["The same positions as after a play"] = cube_fit_tables.by_location(after, seed, self.bootstrap)
        elif len(np.unique(evidence.references.method)) > 1:
            result.tables["By kind of reference"] = cube_fit_tables.by_reference(evidence.references, seed, self.bootstrap)
        result.tables["Fitted on half the games, judged on the other"] = cube_fit_tables.by_halves(references, seed)
        found = cube_fit_tables.residuals(references)
        result.tables["Model at .68 minus reference, by equity"] = [
            {"cube": place, "equity": equity, "residual": figure, "n": figure.n}
            for place, figures in found.items()
            for equity, figure in figures.items()
        ]
        result.plots["residual_by_equity"] = plots.intervals(found, "reference equity (points)", "model at .68 minus reference (points)")
        profiles = {}
        for place in LOCATIONS.values():
            part = references.take(references.at(place))
            if len(part):
                profiles[place] = JanowskiOnReferences(part).profile(np.zeros(len(part), np.int64))[0]
        curves = {place: np.sqrt(sums[: len(GRID)] / sums[-1]) for place, sums in profiles.items()}
        result.plots["rmse_by_index"] = plots.curves(GRID, curves, "cube-life index x", "RMSE (points)")

    def _plays(self, result: Report, checker: CheckerDecisions, evidence: Evidence, references: ReferenceEquities, seed: int) -> None:
        """The tables that a benchmark's checker plays allow."""
        result.tables["Best index by cube value"] = cube_fit_tables.by_cube_value(references, seed, self.bootstrap)
        result.tables["How often each question is asked"] = questions_table(evidence.references, evidence.cube)
        result.tables["Cube-blind floor by cube and game plan"] = floor = cube_blind_table(checker, seed, self.bootstrap)
        for row in floor:
            if row["game plan"] == "all":
                result.figures["cube_blind" if row["cube"] == "all" else f"cube_blind_{row['cube']}"] = row["PR"]
        moves = moves_table(references, seed, self.bootstrap)
        if moves:
            result.tables["Choice of the play by the model"] = moves
            less = {row["model"]: row["less lost"] for row in moves}
            result.figures["less_lost_one_index"], result.figures["less_lost_shift"] = less[ONE_INDEX], less[SHIFTED]

    def _decisions(self, plan: ReferenceSelection, evidence: Evidence) -> list[tuple[str, CubeDecisions]]:
        """The cube decisions whose references count and, where these are not all, all of them: which ones one asks changes the answer."""
        cube = evidence.cube
        if not len(cube):
            return []
        chosen = plan.chosen(classes(cube.tiers, cube.levels))
        found = [("", cube.take(chosen))]
        if not chosen.all():
            found.append((", all references", cube))
        return [(label, part) for label, part in found if len(np.unique(part.games)) > 1]

    def _cube(self, result: Report, label: str, cube: CubeDecisions, evidence: Evidence, seed: int) -> None:
        rows = cube_fit_tables.rows_of_decisions(cube, evidence.rules, seed, self.bootstrap)
        result.tables[f"Equities of cube decisions{label}"] = rows
        variants = decisions_table(cube, evidence.rules, seed, self.bootstrap)
        result.tables[f"Cube decisions by the model{label}"] = variants
        suffix = "_all" if label else ""
        for row in rows:
            if row["line"] == "take" and row["positions"] == "all":
                result.figures[f"best_x_take{suffix}"] = row["best x"]
        result.figures[f"pr_published{suffix}"] = variants[0]["PR"]
        better = {row["model"]: row["better than published"] for row in variants}
        result.figures[f"gain_one_index{suffix}"], result.figures[f"gain_shift{suffix}"] = better[ONE_INDEX], better[SHIFTED]


def _notes(evidence: Evidence, references: ReferenceEquities) -> list[str]:
    kinds = ", ".join(f"{int((references.method == made).sum()):,} {made}" for made in np.unique(references.method))
    notes = [
        f"Reference: {evidence.name}, {evidence.rules.flags()}. Equities that count: {kinds}.",
        "Intervals are 95% and take games (exact positions: random groups) as the independent units; those by equity take decisions.",
        "x of refitted models: fitted on the first half of the games / on the second, each judged on the other; for the places of the "
        "cube centred, owned, theirs. shift: points per unit of the cube that the side on roll gets beyond the model, wherever the cube "
        "is. resolves: half the paired interval, the smallest difference that this table can tell from none.",
        "out of order: share of positions where owned >= centred >= theirs is broken; not told apart: where two are equal.",
    ]
    if references.includes_double:
        notes.append(
            "Candidates are positions after a play: the cube's place is told from who played, and the other side, on roll, may double: "
            "the model is asked for the same, min(no double, max(double/take, -1)) to who played."
        )
    else:
        notes.append("Equities are of not doubling now, to the side on roll; both sides then play and double perfectly. Races, no gammons.")
    if evidence.checker is not None:
        notes.append(
            "Cube-blind floor: PR, by cubeful equity, of the play that is best by the reference's cubeless equity; cubes are seen from who "
            "plays. What no ranking without the cube can avoid, on all decisions, whatever references count elsewhere."
        )
    weakest = set(np.unique(references.method)) - {"exact", "rollout to completion"}
    if weakest:
        notes.append(
            f"These references are no measurements: a {' or '.join(sorted(weakest))} reads a cube model where it ends, so they lean to "
            "its index. Only rollouts to completion (tier rollout and eval_level Rollout) are averages of payoffs."
        )
        if TRUNCATED in weakest:
            notes.append("A search reads the model one to three plies below the position, a truncated rollout some rolls later.")
    return notes

"""Tables of ``evaluator=cube_fit`` about equities: by place of the cube, by reference, in halves, by equity, by volatility."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import CubeRules, Figure
from raccoon.cube.janowski import X_CONTACT
from raccoon.env.board import is_race
from raccoon.eval.benchmark.decisions import CubeDecisions
from raccoon.eval.cube_fit.index import JanowskiOnReferences, best_index, fitted, published, rmse
from raccoon.eval.cube_fit.references import LOCATIONS, ReferenceEquities, references_of_cube
from raccoon.rng import generator

__all__ = ["Rows", "by_cube_value", "by_halves", "by_location", "by_reference", "by_volatility", "halves", "residuals", "rows_of_decisions"]

Rows = list[Mapping[str, Any]]
_EDGES = np.array([-1.0, -0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
_BINS = 5
_FEWEST = 5
"""Decisions of a bin of equity that is shown."""


def _places(references: ReferenceEquities) -> Iterator[tuple[str, ReferenceEquities]]:
    for name in LOCATIONS.values():
        rows = references.at(name)
        if rows.any():
            yield name, references.take(rows)


def _row(references: ReferenceEquities, seed: int, replicates: int, split: bool = True) -> dict[str, Any]:
    """How the published indices do on ``references`` (``split``: also with that of races), and the best index; intervals by game."""
    model = JanowskiOnReferences(references)
    residual = model.residual(X_CONTACT)
    figure = fitted(model.profile(references.game), generator(seed, "cube_fit.bootstrap"), replicates)
    there = model.residual(figure.value) if np.isfinite(figure.value) else residual
    row: dict[str, Any] = {"n": len(references), "bias at .68": stats.mean_ci(residual, references.game), "RMSE at .68": rmse(residual)}
    if split:
        other = model.residual(published(references))
        row |= {"bias at .68/.60": stats.mean_ci(other, references.game), "RMSE at .68/.60": rmse(other)}
    return row | {"best x": figure, "RMSE there": rmse(there)}


def by_location(references: ReferenceEquities, seed: int, replicates: int) -> Rows:
    """The three formulas, each on its own observations; in contact, in races and together where there are both."""
    rows: Rows = []
    for place, part in _places(references):
        race = is_race(part.boards)
        kinds = {"all": np.ones(len(part), bool)}
        if race.any() and not race.all():
            kinds |= {"contact": ~race, "race": race}
        rows += [{"cube": place, "positions": kind} | _row(part.take(mask), seed, replicates) for kind, mask in kinds.items()]
    return rows


def by_cube_value(references: ReferenceEquities, seed: int, replicates: int) -> Rows:
    """The same for every value of the cube in each place; none where the references do not tell it."""
    if references.value is None:
        return []
    rows: Rows = []
    for value in np.unique(references.value):
        for place, part in _places(references.take(references.value == value)):
            rows.append({"cube": place, "value": int(value)} | _row(part, seed, replicates, split=False))
    return rows


def by_reference(references: ReferenceEquities, seed: int, replicates: int) -> Rows:
    """The same for every way in which references were made, best first."""
    rows: Rows = []
    for made in np.unique(references.method):
        for place, part in _places(references.take(references.method == made)):
            rows.append({"reference": str(made), "cube": place} | _row(part, seed, replicates, split=False))
    return rows


def rows_of_decisions(cube: CubeDecisions, rules: CubeRules, seed: int, replicates: int) -> Rows:
    """No-double and take equities of cube decisions, which need no change of sides: the index that each asks for."""
    rows: Rows = []
    for which, label in (("nd", "no double"), ("dt", "take")):
        for place, part in _places(references_of_cube(cube, rules, which)):
            race = is_race(part.boards)
            for kind, mask in (("all", np.ones(len(part), bool)), ("race", race)):
                if mask.any() and not (kind == "race" and race.all()):
                    rows.append({"line": label, "cube": place, "positions": kind} | _row(part.take(mask), seed, replicates))
    return rows


def halves(game: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """``bool[n]``: the rows of one half of the games, drawn by ``seed``; each game is wholly in one half."""
    games = np.unique(game)
    drawn = generator(seed, "cube_fit.halves").permutation(games)[: len(games) // 2]
    return np.isin(game, drawn)


def by_halves(references: ReferenceEquities, seed: int) -> Rows:
    """Index fitted on one half of the games, judged on the other; both ways round.

    The gain is the squared error of .68 minus that of the fitted index on the games it has not seen, in units of 1e-4.
    """
    rows: Rows = []
    first = halves(references.game, seed)
    for place in LOCATIONS.values():
        for label, half in (("first", first), ("second", ~first)):
            fit, judge = references.take(references.at(place) & half), references.take(references.at(place) & ~half)
            if not len(fit) or not len(judge):
                continue
            x = best_index(fit)
            model = JanowskiOnReferences(judge)
            at_published, at_fitted = model.residual(X_CONTACT), model.residual(x if np.isfinite(x) else X_CONTACT)
            gain = stats.mean_ci(1e4 * (at_published**2 - at_fitted**2), judge.game)
            row = {"cube": place, "fitted on": label, "best x": x, "n on the other": len(judge)}
            rows.append(row | {"RMSE at .68": rmse(at_published), "RMSE at best x": rmse(at_fitted), "gain": gain})
    return rows


def residuals(references: ReferenceEquities) -> dict[str, dict[float, Figure]]:
    """Mean of model (at .68) minus reference by reference equity, for each place of the cube: ``{place: {bin's mean equity: figure}}``.

    Intervals are clustered on the decision: candidates of one decision are one position played in several ways.
    """
    found: dict[str, dict[float, Figure]] = {}
    for place, part in _places(references):
        residual, bins = JanowskiOnReferences(part).residual(X_CONTACT), np.searchsorted(_EDGES, part.reported)
        found[place] = {
            float(part.reported[rows].mean()): stats.mean_ci(residual[rows], part.decision[rows])
            for rows in (bins == number for number in np.unique(bins))
            if len(np.unique(part.decision[rows])) >= _FEWEST
        }
    return found


def by_volatility(references: ReferenceEquities, spread: NDArray[np.float64], seed: int, replicates: int) -> Rows:
    """Best index in fifths of ``spread [M]`` (SD over the next 21 rolls of the static value, points), per place of the cube."""
    rows: Rows = []
    for place in LOCATIONS.values():
        here = np.flatnonzero(references.at(place))
        if len(here) < 2 * _BINS:
            continue
        for part in np.array_split(here[np.argsort(spread[here], kind="stable")], _BINS):
            row = _row(references.take(part), seed, replicates, split=False)
            rows.append({"cube": place, "volatility": float(spread[part].mean())} | row)
    return rows

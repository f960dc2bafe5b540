"""The same cube answers priced by two references of the same decisions: what each says of the players, paired by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.eval.benchmark.decisions import Benchmark, CubeDecisions
from raccoon.eval.pr import cube_scoring
from raccoon.eval.pr.checker_scoring import PR_SCALE
from raccoon.eval.pr.cube_scoring import CubeAnswers, CubeScores, score
from raccoon.rng import generator

__all__ = ["add_before", "same_decisions"]

Bools = NDArray[np.bool_]


def same_decisions(benchmark: Benchmark, before: Benchmark) -> CubeDecisions:
    """The cube decisions of ``benchmark`` with the references that ``before`` has for them; the same questions count.

    Raises RaccoonError naming the file where it lacks one of them or has other rules.
    """
    cube, other = benchmark.cube, before.cube
    at = f"evaluator.before: {before.source}"
    if benchmark.rules != before.rules:
        raise RaccoonError(f"{at}: has other rules (Jacoby, beavers) than {benchmark.source}; give two files of the same decisions")
    places = {identity: row for row, identity in enumerate(_identities(other))}
    rows = [places.get(identity, -1) for identity in _identities(cube)]
    if -1 in rows:
        key = cube.keys[rows.index(-1)]
        raise RaccoonError(f"{at}: lacks the cube decision {key} of {benchmark.source}; give two files of the same decisions")
    return replace(other.take(np.array(rows, np.int64)), has_double=cube.has_double, has_take=cube.has_take)


def add_before(result: Report, before: CubeDecisions, scored: Mapping[str, CubeScores], seed: int, replicates: int) -> None:
    """Adds to ``result`` what the answers ``scored`` of ``player`` and ``opponent`` cost by the references ``before``, and how far the two
    references are apart."""
    now = scored["player"].cube
    priced = {label: score(one.name, before, _answers(one)) for label, one in scored.items()}
    losses = {one.name: (priced[label].loss, one.loss) for label, one in scored.items()}
    if "opponent" in scored:
        (first, theirs), name = losses.values(), f"{scored['player'].name} minus {scored['opponent'].name}"
        losses[name] = (first[0] - theirs[0], first[1] - theirs[1])
    mine = scored["player"]
    masks = {"all": np.ones(len(mine.loss), bool), "measured references": now.measured[mine.rows]}
    rows: list[Mapping[str, Any]] = []
    for questions, mask in masks.items():
        if not mask.any() or (questions != "all" and mask.all()):
            continue
        for name, (old, new) in losses.items():
            figures = {"PR before": old, "PR": new, "minus before": new - old}
            row = {key: _pr(values[mask], mine.games[mask], seed, replicates) for key, values in figures.items()}
            rows.append({"PR of": name, "questions": questions, "n": int(mask.sum()), **row})
    result.tables["Two references"] = rows
    result.figures |= {"pr_before": rows[0]["PR before"], "pr_minus_before": rows[0]["minus before"]}
    result.tables["Two references: how far apart"] = list(_apart(now, before))
    result.notes.append(
        "Two references: the same answers by the references of evaluator.before (before) and of evaluator.benchmark, paired by question. "
        "How far apart: of the questions whose reference is another one, how often the right answer is, the root mean square of the "
        "change in points, and what the standard errors of the new reference explain of it (blank: it has none)."
    )


def _identities(cube: CubeDecisions) -> list[tuple[Any, ...]]:
    """What tells each decision from others: its key, game, turn, cube and board."""
    columns = (cube.keys, cube.games, cube.turn, cube.cubes.value, cube.cubes.owner)
    boards = (board.tobytes() for board in np.ascontiguousarray(cube.boards, np.int8))
    return list(zip(*(column.tolist() for column in columns), boards, strict=True))


def _answers(scores: CubeScores) -> CubeAnswers:
    """The answers at every position, False where no question counts."""
    double, take = np.zeros(len(scores.cube), bool), np.zeros(len(scores.cube), bool)
    double[scores.rows[~scores.receiver]] = scores.yes[~scores.receiver]
    take[scores.rows[scores.receiver]] = scores.yes[scores.receiver]
    return CubeAnswers(double, take)


def _pr(values: NDArray[np.float64], games: NDArray[np.int64], seed: int, replicates: int) -> Figure:
    return stats.bootstrap_mean(values, games, generator(seed, "cube_pr.bootstrap"), replicates, PR_SCALE)


def _apart(now: CubeDecisions, before: CubeDecisions) -> Iterator[Mapping[str, Any]]:
    """A row for each number that a question turns on."""
    doubles, takes = cube_scoring.counted(now)
    wait, both = now.no_double - before.no_double, now.double_take - before.double_take
    doubled, took = now.should_double != before.should_double, now.should_take != before.should_take
    changed = (wait != 0) | (both != 0)
    for name, counts, change, error, turned in (
        ("no double", doubles, wait, now.no_double_se, None),
        ("double and take minus no double", doubles, both - wait, now.difference_se, doubled),
        ("double and take", takes, both, now.double_take_se, took),
    ):
        mask = counts & changed
        if not mask.any():
            continue
        known = error[mask][~np.isnan(error[mask])]
        yield {
            "equity": name,
            "n": int(mask.sum()),
            "right answers changed": None if turned is None else int(turned[mask].sum()),
            "mean change": float(change[mask].mean()),
            "RMS change": _rms(change[mask]),
            "RMS standard error": _rms(known) if len(known) else None,
        }


def _rms(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.square(values).mean()))

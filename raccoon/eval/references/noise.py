"""The noise floor of a benchmark: how sure its references are, and what that alone charges a player who makes no error.

Only references with standard errors count, that is, rollouts. The errors are those of the dice: what is wrong with the player of
the rollout, or with the evaluation at the end of a truncated one, is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.env import ragged
from raccoon.eval.benchmark.decisions import Benchmark, CheckerDecisions
from raccoon.eval.pr.checker_scoring import PR_SCALE
from raccoon.eval.pr.cube_scoring import counted
from raccoon.rng import generator

__all__ = ["checker_charges", "noise_table", "two_way_charge"]

Floats = NDArray[np.float64]
_DRAWS = 1000


@dataclass(frozen=True)
class _Questions:
    """``Q`` questions of one kind: ``tiers``, the ``gap`` between the best two answers and its standard error ``gap_se`` (NaN where
    unknown), ``value_se`` of the better one's value, ``charge`` in points of a player that makes no error."""

    kind: str
    tiers: NDArray[np.str_]
    gap: Floats
    gap_se: Floats
    value_se: Floats
    charge: Floats


def noise_table(benchmark: Benchmark, seed: int = 1) -> list[Mapping[str, Any]]:
    """One row for each kind of question and tier, blank where no standard errors are known.

    ``within 1 SE``: the share of questions whose best two answers are no further apart than the standard error of their difference
    (``within 2 SE``: twice that). ``charged PR``: what a player who always gives the truly best answer is charged when references are
    as far off as their standard errors say: the references stand for the truth, and normal errors are put on them. Checker plays are
    by cubeless equity, ``_DRAWS`` sets of errors drawn by ``seed``; cube questions have a closed form.
    """
    rows: list[Mapping[str, Any]] = []
    for questions in (_plays(benchmark.checker, seed), *_cube(benchmark)):
        for tier in np.unique(questions.tiers).tolist():
            of_tier = questions.tiers == tier
            known = of_tier & ~np.isnan(questions.gap_se)
            row: dict[str, Any] = {"question": questions.kind, "tier": tier, "n": int(of_tier.sum()), "with SE": int(known.sum())}
            if known.any():
                gap, error = questions.gap[known], questions.gap_se[known]
                row |= {
                    "median SE": float(np.median(questions.value_se[known])),
                    "median SE of difference": float(np.median(error)),
                    "within 1 SE": float((gap <= error).mean()),
                    "within 2 SE": float((gap <= 2 * error).mean()),
                    "charged PR": PR_SCALE * float(questions.charge[known].mean()),
                }
            rows.append(row)
    return rows


def two_way_charge(gap: Floats, error: Floats) -> Floats:
    """``float64[N]``: expected points that the better of two answers is charged, ``gap >= 0`` apart, when the difference is measured
    with normal ``error``: s phi(g/s) - g Phi(-g/s)."""
    normal = NormalDist()
    pairs = zip(gap.tolist(), error.tolist(), strict=True)
    return np.array([s * normal.pdf(g / s) - g * normal.cdf(-g / s) if s > 0 else 0.0 for g, s in pairs])


def checker_charges(checker: CheckerDecisions, seed: int, draws: int = _DRAWS) -> Floats:
    """``float64[N]``: expected points that the reference's best candidate is charged when the values of all candidates that have
    standard errors are off by normal errors, each as dependent on the best one's as ``difference_se`` says. 0 where none has any."""
    best, values = ragged.argmax(checker.cubeless, checker.offsets), checker.cubeless
    known = ~np.isnan(checker.std_error)
    error = np.where(known, checker.std_error, 0.0)
    of_best = ragged.spread(error[best], checker.offsets)
    paired = np.nan_to_num(_difference_errors(checker, best))
    both = error * of_best
    share = np.clip(np.divide(of_best**2 + error**2 - paired**2, 2 * both, out=np.zeros_like(error), where=both > 0), -1.0, 1.0)
    share[best] = 1.0
    rest = np.sqrt(1.0 - share**2)
    seen = np.where(known, 0.0, -np.inf)  # the others are known to be worse
    seen[best] = 0.0
    rng, total = generator(seed, "benchmark.noise"), np.zeros(len(checker))
    for _ in range(draws):
        common = ragged.spread(rng.standard_normal(len(checker)), checker.offsets)
        off = values + error * (share * common + rest * rng.standard_normal(len(values)))
        total += ragged.row_max(off + seen, checker.offsets) - off[best]
    return total / draws


def _difference_errors(checker: CheckerDecisions, best: NDArray[np.int64]) -> Floats:
    """``float64[M]``: standard error of each candidate's difference to the best one, NaN where one of the two is unknown."""
    apart = np.sqrt(checker.std_error**2 + ragged.spread(checker.std_error[best], checker.offsets) ** 2)
    on_its_dice = ragged.spread(checker.difference_se[best] == 0, checker.offsets) & ~np.isnan(checker.difference_se)
    return np.where(on_its_dice, checker.difference_se, apart)


def _plays(checker: CheckerDecisions, seed: int) -> _Questions:
    best = ragged.argmax(checker.cubeless, checker.offsets)
    others = checker.cubeless.copy()
    others[best] = -np.inf
    second = ragged.argmax(others, checker.offsets)
    several = np.diff(checker.offsets) > 1
    gap = np.where(several, checker.cubeless[best] - checker.cubeless[second], np.inf)
    gap_se = np.where(several, _difference_errors(checker, best)[second], np.nan)
    return _Questions("checker play", checker.tiers, gap, gap_se, checker.std_error[best], checker_charges(checker, seed))


def _cube(benchmark: Benchmark) -> Iterator[_Questions]:
    cube = benchmark.cube
    offered, taken = np.minimum(cube.double_take, cube.double_pass), cube.double_take <= cube.double_pass
    double = (np.abs(offered - cube.no_double), np.where(taken, cube.difference_se, cube.no_double_se), cube.no_double_se)
    take = (np.abs(cube.double_take - cube.double_pass), cube.double_take_se, cube.double_take_se)
    for kind, (gap, gap_se, value_se), mask in zip(("double", "take"), (double, take), counted(cube), strict=True):
        charge = np.where(np.isnan(gap_se), 0.0, two_way_charge(gap, np.nan_to_num(gap_se)))
        yield _Questions(kind, cube.tiers[mask], *(column[mask] for column in (gap, gap_se, value_se, charge)))

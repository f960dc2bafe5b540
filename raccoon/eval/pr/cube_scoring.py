"""Scores cube decisions against a benchmark: the pure part.

A position asks up to two questions: the side on roll, double or not; its opponent, when doubled, take or not. Losses are
in points per unit of the cube before doubling, against what is best by the reference, the other side answering as is best
for it: the doubler loses ``max(nd, min(dt, dp))`` less what its choice is worth, the receiver what its answer gives the
doubler beyond ``min(dt, dp)``. PR is 500 times their mean over all questions asked, whoever answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import CENTRED, OWNED, PR_SCALE, CubeEquities, CubeModel, CubeRules, Figure, RaccoonError
from raccoon.cube.choice import OWNERS, should_double, should_take
from raccoon.cube_rules import OWNER_NAMES
from raccoon.env.board import is_race
from raccoon.eval.benchmark.decisions import CubeDecisions
from raccoon.rng import generator

__all__ = [
    "CubeAnswers",
    "CubeScores",
    "coherent",
    "counted",
    "difference",
    "errors",
    "group_masks",
    "model_answers",
    "pr",
    "score",
]

Bools = NDArray[np.bool_]
_NOISE = 1e-6
"""Chances are single precision: those of a game that is all but won add up to a little more than 1."""


@dataclass(frozen=True)
class CubeAnswers:
    """``double bool[N]``, ``take bool[N]``: answers at ``N`` positions; those of questions that do not count mean nothing."""

    double: Bools
    take: Bools

    @classmethod
    def of(cls, equities: CubeEquities) -> CubeAnswers:
        """What is best by ``equities``."""
        return cls(should_double(equities), should_take(equities))


@dataclass(frozen=True)
class CubeScores:
    """``loss float64[S]`` at ``S`` questions of ``cube``: first every counted double, then every counted take.

    ``rows int64[S]`` the position, ``receiver bool[S]`` whether it is a take, ``yes bool[S]`` the answer.
    """

    name: str
    cube: CubeDecisions
    rows: NDArray[np.int64]
    receiver: Bools
    yes: Bools
    loss: NDArray[np.float64]

    @property
    def games(self) -> NDArray[np.int64]:
        """``int64[S]``: the game of each question, the bootstrap's unit."""
        return self.cube.games[self.rows]


def counted(cube: CubeDecisions) -> tuple[Bools, Bools]:
    """``bool[N]`` twice: which doubles and which takes count. None where the side on roll may not double."""
    allowed = cube.cubes.under(CubeRules()).may_double()
    return cube.has_double & allowed, cube.has_take & allowed


def score(name: str, cube: CubeDecisions, answers: CubeAnswers) -> CubeScores:
    """Price ``answers`` by the reference. Raises RaccoonError when they are not one bool for each position."""
    for question, given in (("double", answers.double), ("take", answers.take)):
        if given.shape != (len(cube),) or given.dtype != bool:
            raise RaccoonError(f"player {name}: {question}() gave {given.dtype}{list(given.shape)} for {len(cube)} positions, wanted bools")
    doubles, takes = (np.flatnonzero(mask) for mask in counted(cube))
    offered = np.minimum(cube.double_take, cube.double_pass)
    doubler = np.maximum(cube.no_double, offered) - np.where(answers.double, offered, cube.no_double)
    receiver = np.where(answers.take, cube.double_take, cube.double_pass) - offered
    return CubeScores(
        name,
        cube,
        np.concatenate([doubles, takes]),
        np.repeat([False, True], [len(doubles), len(takes)]),
        np.concatenate([answers.double[doubles], answers.take[takes]]),
        np.maximum(np.concatenate([doubler[doubles], receiver[takes]]), 0.0),
    )


def model_answers(model: CubeModel, probs6: NDArray[np.floating], cube: CubeDecisions, rules: CubeRules) -> CubeAnswers:
    """What ``model`` does on outcome chances ``probs6 [N, 6]`` of the side on roll."""
    return CubeAnswers.of(model.equities(probs6, cube.boards, cube.cubes.under(rules)))


def coherent(model: CubeModel, probs6: NDArray[np.floating], cube: CubeDecisions, rules: CubeRules) -> Bools:
    """``bool[N]``: owning the cube is worth no less than a centred one, and that no less than the other side owning it.

    The Jacoby rule, which takes gammons from a centred cube alone, can turn that round without a fault of the model.
    """
    by_owner = dict(zip(OWNERS, model.by_owner(probs6, cube.boards, rules.jacoby).T, strict=True))
    owned, centred, theirs = by_owner[OWNED], by_owner[CENTRED], by_owner[-OWNED]
    return (owned >= centred - _NOISE) & (centred >= theirs - _NOISE)


def pr(scores: CubeScores, seed: int, replicates: int, questions: Bools | None = None) -> Figure:
    """PR over all questions or those of a mask ``bool[S]``, interval by game. The same draws serve every player."""
    picked = slice(None) if questions is None else questions
    return stats.bootstrap_mean(scores.loss[picked], scores.games[picked], generator(seed, "cube_pr.bootstrap"), replicates, PR_SCALE)


def difference(first: CubeScores, second: CubeScores, seed: int, replicates: int, questions: Bools | None = None) -> Figure:
    """PR of ``first`` minus ``second`` on the same questions, bootstrapped by game."""
    picked = slice(None) if questions is None else questions
    rng = generator(seed, "cube_pr.bootstrap")
    return stats.paired_bootstrap(first.loss[picked], second.loss[picked], first.games[picked], rng, replicates, PR_SCALE)


def errors(scores: CubeScores) -> list[dict[str, Any]]:
    """The four kinds of error: how often they were possible and made, the points given away and their share of the PR."""
    kinds = {
        "wrong doubles": ~scores.receiver & scores.yes,
        "missed doubles": ~scores.receiver & ~scores.yes,
        "wrong takes": scores.receiver & scores.yes,
        "wrong passes": scores.receiver & ~scores.yes,
    }
    return [
        {
            "error": kind,
            "answers": int(mask.sum()),
            "errors": int((scores.loss[mask] > 0).sum()),
            "points": float(scores.loss[mask].sum()),
            "PR": PR_SCALE * float(scores.loss[mask].sum()) / max(len(scores.loss), 1),
        }
        for kind, mask in kinds.items()
    ]


def group_masks(scores: CubeScores) -> dict[str, dict[str, Bools]]:
    """Masks ``bool[S]`` that PR is broken down by: who decides, cube owner, tier, game plan, contact or race."""
    rows, cube = scores.rows, scores.cube
    race = is_race(cube.boards)[rows]
    owners = cube.cubes.owner[rows]
    found = {
        "side": {"doubler": ~scores.receiver, "receiver": scores.receiver},
        "cube": {name: owners == owner for owner, name in OWNER_NAMES.items()},
        "tier": {str(tier): cube.tiers[rows] == tier for tier in np.unique(cube.tiers)},
        "game plan": {str(plan): cube.plans[rows] == plan for plan in np.unique(cube.plans)},
        "contact": {"contact": ~race, "race": race},
    }
    return {title: {name: mask for name, mask in groups.items() if mask.any()} for title, groups in found.items()}

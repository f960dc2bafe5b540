"""Cube decisions and move choice by Janowski's model under several indices, given the reference's own probabilities.

So the error of an evaluation is out of the comparison. Refitted indices are cross-fitted: each half of the games is judged at
the index that is best on the other half, which keeps every decision in the comparison and none in its own fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon import stats
from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Figure
from raccoon.cube.janowski import X_CONTACT, cl2cf_money, cube_index
from raccoon.cube.model import with_beavers
from raccoon.env import ragged
from raccoon.eval.benchmark.decisions import CubeDecisions
from raccoon.eval.cube_fit.index import JanowskiOnReferences, best, ends, published
from raccoon.eval.cube_fit.references import ReferenceEquities
from raccoon.eval.cube_fit.tables import Rows, halves
from raccoon.eval.pr import cube_scoring
from raccoon.eval.pr.checker_scoring import PR_SCALE
from raccoon.eval.pr.cube_scoring import CubeAnswers, CubeScores, score
from raccoon.rng import generator

__all__ = ["Decider", "decisions_table", "disorder", "moves_table"]

_STEPS = np.linspace(0.0, 1.0, 51)
_SWEEPS = 4
Triple = tuple[float, float, float]
"""Index of a centred cube, of one's own and of the other side's."""


class Decider:
    """The model's answers at the positions of ``cube``, at any indices."""

    def __init__(self, cube: CubeDecisions, rules: CubeRules) -> None:
        self.cube = cube
        self._cubes = cube.cubes.under(rules)
        self._held = ends(cube.probs5, cube.cubes.owner, rules.jacoby)
        self._turned = ends(cube.probs5, np.full(len(cube), OPPONENT, np.int8), False)

    def answers(self, x: tuple[Any, Any, Any]) -> CubeAnswers:
        """What the model does; ``x``: index of a (centred, own, other side's) cube, one or one a row each."""
        owner = self.cube.cubes.owner
        here = np.where(owner == CENTRED, x[0], np.where(owner == OWNED, x[1], x[2]))
        nd = self._held[0] + here * self._held[1]
        dt = with_beavers(2.0 * (self._turned[0] + x[2] * self._turned[1]), self._cubes)
        return CubeAnswers(np.minimum(dt, 1.0) > nd, dt < 1.0)

    def loss(self, x: Triple) -> float:
        """Mean points given away."""
        loss = score("fit", self.cube, self.answers(x)).loss
        return float(loss.mean()) if len(loss) else 0.0


def decisions_table(cube: CubeDecisions, rules: CubeRules, seed: int, replicates: int) -> Rows:
    """PR of every variant with intervals by game, paired against the published index (positive: the variant is better)."""
    first = halves(cube.games, seed)
    fits = {
        name: [fit(Decider(cube.take(half), rules)) for half in (first, ~first)]
        for name, fit in (("one", _one_index), ("each", _each_index))
    }
    decider = Decider(cube, rules)
    split = cube_index(cube.boards)
    variants: dict[str, Sequence[tuple[Any, Any, Any]]] = {
        "published, .68": [(X_CONTACT, X_CONTACT, X_CONTACT)],
        "published, .68 contact and .60 race": [(split, split, split)],
        "one index, refitted": fits["one"],
        "an index for each place of the cube, refitted": fits["each"],
        "dead cube, 0": [(0.0, 0.0, 0.0)],
        "live cube, 1": [(1.0, 1.0, 1.0)],
    }
    rows: Rows = []
    baseline: CubeScores | None = None
    for name, indices in variants.items():
        used = indices[0] if len(indices) == 1 else _crossed(indices[0], indices[1], first)
        scores = score(name, cube, decider.answers(used))
        paired = None if baseline is None else cube_scoring.difference(baseline, scores, seed, replicates)
        baseline = scores if baseline is None else baseline
        broken, tied = np.mean([disorder(cube.probs5, one) for one in indices], axis=0)
        rows.append(
            {
                "model": name,
                "x": _told(indices),
                "PR": cube_scoring.pr(scores, seed, replicates),
                "better than published": paired,
                "resolves": None if paired is None or paired.lo is None or paired.hi is None else (paired.hi - paired.lo) / 2,
                "double PR": _part(scores, ~scores.receiver),
                "take PR": _part(scores, scores.receiver),
                "n": len(scores.loss),
                "out of order": float(broken),
                "not told apart": float(tied),
            }
        )
    return rows


def disorder(probs5: NDArray[np.float64], x: tuple[Any, Any, Any]) -> tuple[float, float]:
    """Share of positions where owned >= centred >= theirs is broken at ``x`` (as in ``answers``), and share where two of the
    three are equal. Without the Jacoby rule, under which a centred cube plays another game."""
    centred, owned, theirs = (cl2cf_money(probs5, owner, one) for owner, one in zip((CENTRED, OWNED, OPPONENT), x, strict=True))
    upper, lower = owned - centred, centred - theirs
    broken = (upper < -1e-9) | (lower < -1e-9)
    return float(broken.mean()), float((~broken & ((upper < 1e-9) | (lower < 1e-9))).mean())


def _crossed(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any], first: NDArray[np.bool_]) -> tuple[Any, Any, Any]:
    """Each half at the indices that the other half wants; ``one`` are those that the first half wants."""
    centred, owned, theirs = (np.where(first, b, a) for a, b in zip(one, other, strict=True))
    return centred, owned, theirs


def _told(indices: Sequence[tuple[Any, Any, Any]]) -> str:
    """Indices as text: centred, owned, theirs where they differ; of both halves where there are two."""
    if any(np.ndim(one) for one in indices[0]):
        return ""
    texts = [f"{x[0]:.2f}" if len(set(x)) == 1 else ", ".join(f"{one:.2f}" for one in x) for x in indices]
    return " / ".join(texts)


def _part(scores: CubeScores, rows: NDArray[np.bool_]) -> float | None:
    return float(PR_SCALE * scores.loss[rows].mean()) if rows.any() else None


def _nearest_best(score: Callable[[float], float]) -> float:
    """The index of least loss; of equals the one nearest to the published, so that what does not matter stays as it is."""
    losses = np.array([score(float(x)) for x in _STEPS])
    equal = _STEPS[losses <= losses.min() + 1e-12]
    return float(equal[np.argmin(np.abs(equal - X_CONTACT))])


def _one_index(decider: Decider) -> Triple:
    x = _nearest_best(lambda x: decider.loss((x, x, x)))
    return x, x, x


def _each_index(decider: Decider) -> Triple:
    """Coordinate descent from the published index: a minimum along each axis, not certainly the lowest of all."""
    x = [X_CONTACT] * 3
    for _ in range(_SWEEPS):
        before = list(x)
        for place in range(3):
            x[place] = _nearest_best(lambda one, at=place, held=tuple(x): decider.loss(_with(held, at, one)))
        if x == before:
            break
    return x[0], x[1], x[2]


def _with(x: tuple[float, ...], place: int, one: float) -> Triple:
    changed = list(x)
    changed[place] = one
    return changed[0], changed[1], changed[2]


def moves_table(references: ReferenceEquities, seed: int, replicates: int) -> Rows:
    """How often the model's best candidate is the reference's, and what is given away, at several indices; decisions with a choice.

    Intervals bootstrap games; ``less lost`` is paired against the published index.
    """
    decisions, counts = np.unique(references.decision, return_counts=True)
    references = references.take(np.isin(references.decision, decisions[counts > 1]))
    if not len(references):
        return []
    starts = np.flatnonzero(np.r_[True, np.diff(references.decision) > 0])
    offsets = np.append(starts, len(references))
    games = references.game[starts]
    top = ragged.row_max(references.reported, offsets)
    model, first, centred = JanowskiOnReferences(references), halves(references.game, seed), references.at("centred")
    everywhere = np.ones(len(references), bool)
    settings: dict[str, NDArray[np.float64]] = {
        "published, .68": np.full(len(references), X_CONTACT),
        "published, .68 contact and .60 race": published(references),
        "one index, refitted": _cross_fitted(references, first, everywhere),
        "centred refitted, .68 elsewhere": np.where(centred, _cross_fitted(references, first, centred), X_CONTACT),
        "dead cube, 0": np.zeros(len(references)),
        "live cube, 1": np.ones(len(references)),
    }
    rows: Rows = []
    baseline: NDArray[np.float64] | None = None
    for name, x in settings.items():
        chosen = ragged.argmax(model.equity(x), offsets)
        loss = top - references.reported[chosen]
        baseline = loss if baseline is None else baseline
        rng = [generator(seed, "cube_fit.moves") for _ in range(2)]
        less: Figure | None = None if baseline is loss else stats.paired_bootstrap(baseline, loss, games, rng[0], replicates)
        lost = stats.bootstrap_mean(loss, games, rng[1], replicates)
        rows.append({"model": name, "decisions": len(starts), "best play": float((loss <= 0).mean()), "lost": lost, "less lost": less})
    return rows


def _cross_fitted(references: ReferenceEquities, first: NDArray[np.bool_], rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """``float64[M]``: the index that fits the equities of ``rows`` best in the *other* half of the games."""
    x = np.full(len(references), X_CONTACT)
    for half in (first, ~first):
        fit = references.take(half & rows)
        if len(fit):
            found = float(best(JanowskiOnReferences(fit).profile(fit.game).sum(axis=0, keepdims=True))[0])
            x[~half] = found if np.isfinite(found) else X_CONTACT
    return x

"""Cube decisions by Janowski's model under several settings, given the reference's own probabilities.

So the error of an evaluation is out of the comparison. Refitted indices are cross-fitted: each half of the games is judged at
the index that is best on the other half, which keeps every decision in the comparison and none in its own fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, OWNED, PR_SCALE, CubeEquities, CubeRules
from raccoon.cube.choice import with_beavers
from raccoon.cube.janowski import X_CONTACT, cl2cf_money, cube_index
from raccoon.eval.benchmark.decisions import CubeDecisions
from raccoon.eval.cube_fit.index import ends
from raccoon.eval.cube_fit.tables import Rows, halves
from raccoon.eval.pr import cube_scoring
from raccoon.eval.pr.cube_scoring import CubeAnswers, CubeScores, score

__all__ = ["ONE_INDEX", "PUBLISHED", "SHIFTED", "SHIFTS", "Decider", "Setting", "decisions_table", "disorder"]

ONE_INDEX, SHIFTED = "one index, refitted", ".68 and a shift, fitted"
"""Names of variants in the tables."""

_INDICES = np.linspace(0.0, 1.0, 51)
SHIFTS = np.linspace(-0.25, 0.25, 101)
"""Shifts that are tried: of the index, and of the equity in points per unit of the cube."""
_SWEEPS = 4


class Setting(NamedTuple):
    """Index of a ``centred`` cube, of one's ``own`` and of the other side's, and a ``shift``: points per unit of the cube that the side on
    roll gets beyond the model, wherever the cube is. One of each, or one a row."""

    centred: Any
    own: Any
    theirs: Any
    shift: Any = 0.0


PUBLISHED = Setting(X_CONTACT, X_CONTACT, X_CONTACT)


class Decider:
    """The model's answers at the positions of ``cube``, at any indices."""

    def __init__(self, cube: CubeDecisions, rules: CubeRules) -> None:
        self.cube = cube
        self._cubes = cube.cubes.under(rules)
        self._held = ends(cube.probs5, cube.cubes.owner, rules.jacoby)
        self._turned = ends(cube.probs5, np.full(len(cube), OPPONENT, np.int8), False)

    def answers(self, setting: Setting) -> CubeAnswers:
        """What the model does at ``setting``."""
        owner = self.cube.cubes.owner
        here = np.where(owner == CENTRED, setting.centred, np.where(owner == OWNED, setting.own, setting.theirs))
        nd = self._held[0] + here * self._held[1] + setting.shift
        dt = with_beavers(2.0 * (self._turned[0] + setting.theirs * self._turned[1] + setting.shift), self._cubes)
        return CubeAnswers.of(CubeEquities(nd, dt, np.ones(len(nd))))

    def loss(self, setting: Setting) -> float:
        """Mean points given away."""
        loss = score("fit", self.cube, self.answers(setting)).loss
        return float(loss.mean()) if len(loss) else 0.0


def decisions_table(cube: CubeDecisions, rules: CubeRules, seed: int, replicates: int) -> Rows:
    """PR of every variant with intervals by game, paired against the published index (positive: the variant is better)."""
    first = halves(cube.games, seed)
    fits = {name: [fit(Decider(cube.take(half), rules)) for half in (first, ~first)] for name, fit in _FITS.items()}
    decider = Decider(cube, rules)
    split = cube_index(cube.boards)
    variants: dict[str, Sequence[Setting]] = {
        "published, .68": [PUBLISHED],
        "published, .68 contact and .60 race": [_everywhere(split)],
        **fits,
        "dead cube, 0": [_everywhere(0.0)],
        "live cube, 1": [_everywhere(1.0)],
    }
    rows: Rows = []
    baseline: CubeScores | None = None
    for name, settings in variants.items():
        used = settings[0] if len(settings) == 1 else _crossed(settings[0], settings[1], first)
        scores = score(name, cube, decider.answers(used))
        paired = None if baseline is None else cube_scoring.difference(baseline, scores, seed, replicates)
        baseline = scores if baseline is None else baseline
        broken, tied = np.mean([disorder(cube.probs5, one) for one in settings], axis=0)
        rows.append(
            {
                "model": name,
                "x": _told(settings),
                "shift": _told_shift(settings),
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


def disorder(probs5: NDArray[np.float64], setting: Setting) -> tuple[float, float]:
    """Share of positions where owned >= centred >= theirs is broken at ``setting``, and share where two of the three are equal. Without the
    Jacoby rule, under which a centred cube plays another game. A shift, which is the same for all three, breaks nothing."""
    centred, owned, theirs = (cl2cf_money(probs5, owner, one) for owner, one in zip((CENTRED, OWNED, OPPONENT), setting[:3], strict=True))
    upper, lower = owned - centred, centred - theirs
    broken = (upper < -1e-9) | (lower < -1e-9)
    return float(broken.mean()), float((~broken & ((upper < 1e-9) | (lower < 1e-9))).mean())


def _everywhere(x: Any) -> Setting:
    return Setting(x, x, x)


def _crossed(one: Setting, other: Setting, first: NDArray[np.bool_]) -> Setting:
    """Each half at the setting that the other half wants; ``one`` is that which the first half wants."""
    return Setting(*(np.where(first, b, a) for a, b in zip(one, other, strict=True)))


def _told(settings: Sequence[Setting]) -> str:
    """Indices as text: centred, owned, theirs where they differ; of both halves where there are two."""
    if np.ndim(settings[0].centred):
        return ""
    places = [setting[:1] if len(set(setting[:3])) == 1 else setting[:3] for setting in settings]
    return " / ".join(", ".join(f"{one:.2f}" for one in setting) for setting in places)


def _told_shift(settings: Sequence[Setting]) -> str:
    return " / ".join(f"{setting.shift:+.3f}" for setting in settings) if any(setting.shift for setting in settings) else ""


def _part(scores: CubeScores, rows: NDArray[np.bool_]) -> float | None:
    return float(PR_SCALE * scores.loss[rows].mean()) if rows.any() else None


def _nearest_best(score: Callable[[float], float], steps: NDArray[np.float64] = _INDICES, start: float = X_CONTACT) -> float:
    """The step of least loss; of equals the one nearest to ``start``, so that what does not matter stays as it is."""
    losses = np.array([score(float(x)) for x in steps])
    equal = steps[losses <= losses.min() + 1e-12]
    return float(equal[np.argmin(np.abs(equal - start))])


def _one_index(decider: Decider) -> Setting:
    return _everywhere(_nearest_best(lambda x: decider.loss(_everywhere(x))))


def _each_index(decider: Decider) -> Setting:
    """Coordinate descent from the published index: a minimum along each axis, not certainly the lowest of all."""
    setting = PUBLISHED
    for _ in range(_SWEEPS):
        before = setting
        for place in ("centred", "own", "theirs"):
            best_there = _nearest_best(lambda x, at=place, held=setting: decider.loss(held._replace(**{at: x})))
            setting = setting._replace(**{place: best_there})
        if setting == before:
            break
    return setting


def _one_shift(decider: Decider) -> Setting:
    return PUBLISHED._replace(shift=_nearest_best(lambda shift: decider.loss(PUBLISHED._replace(shift=shift)), SHIFTS, 0.0))


_FITS: dict[str, Callable[[Decider], Setting]] = {
    ONE_INDEX: _one_index,
    "an index for each place of the cube, refitted": _each_index,
    SHIFTED: _one_shift,
}

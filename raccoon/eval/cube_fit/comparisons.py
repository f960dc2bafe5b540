"""What stands beside the model in ``evaluator=cube_fit``: Janowski's equations 5 to 7, how often each cube question is asked, and what
players lose that do not see the cube when they choose plays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon import stats
from raccoon.contracts import CENTRED, OPPONENT, OWNED, PR_SCALE
from raccoon.cube.janowski import X_CONTACT, cl2cf_money, compute_wl
from raccoon.eval.benchmark.decisions import CheckerDecisions, CubeDecisions
from raccoon.eval.cube_fit.index import rmse, with_option
from raccoon.eval.cube_fit.references import LOCATIONS, ReferenceEquities
from raccoon.eval.cube_fit.tables import Rows
from raccoon.eval.pr.checker_scoring import cube_blind_loss
from raccoon.rng import generator

__all__ = ["cube_blind_table", "equations_5_to_7", "formulas_table", "questions_table"]

_TINY = 1e-9


def equations_5_to_7(probs5: NDArray[np.float64], owner: NDArray[np.int8], x: ArrayLike) -> NDArray[np.float64]:
    """``float64[N]``: equity of not doubling, in points per unit of the cube, by the equations of *Take-Points in Money Games*: linear in
    the winning chance, so that they run past what a game can pay. ``probs5 [N, 5]`` cumulative; without the Jacoby rule."""
    index = np.asarray(x, np.float64)
    won, lost = compute_wl(probs5)
    line = probs5[:, 0] * (won + lost + 0.5 * index) - lost
    centred = 4.0 / (4.0 - index) * (line - 0.25 * index)
    return np.select([owner == OWNED, owner == OPPONENT], [line, line - 0.5 * index], centred)


def formulas_table(references: ReferenceEquities) -> Rows:
    """By place of the cube: bias and RMSE at .68 of the piecewise formulas and of equations 5 to 7 on the same positions, and the share of
    their equities of not doubling beyond the bounds -L and W. Centred cubes under the Jacoby rule, which the equations leave open, are not
    there."""
    rows: Rows = []
    for place in LOCATIONS.values():
        part = references.take(references.at(place) & ~((references.owner == CENTRED) & references.jacoby))
        if not len(part):
            continue
        won, lost = compute_wl(part.probs5)
        theirs = np.full(len(part), OPPONENT, np.int8)
        for name, formula in (("piecewise", cl2cf_money), ("equations 5 to 7", equations_5_to_7)):
            held = formula(part.probs5, part.owner, X_CONTACT)
            told = with_option(part, held, formula(part.probs5, theirs, X_CONTACT)) if part.includes_double else part.sign * held
            residual, beyond = told - part.reported, (held > won + _TINY) | (held < -lost - _TINY)
            row = {"cube": place, "formula": name, "n": len(part), "bias": stats.mean_ci(residual, part.game), "RMSE": rmse(residual)}
            rows.append(row | {"out of bounds": float(beyond.mean())})
    return rows


def questions_table(references: ReferenceEquities, cube: CubeDecisions) -> Rows:
    """How often the evidence asks which play to make (decisions with a choice), whether to double and whether to take, and how often for
    each take: what a change of the index acts on."""
    _, candidates = np.unique(references.decision, return_counts=True)
    counts: dict[str, int] = {
        "which play": int((candidates > 1).sum()),
        "double or not": int(cube.has_double.sum()),
        "take or not": int(cube.has_take.sum()),
    }
    takes = counts["take or not"]
    return [{"question": name, "times": n, "for each take": n / takes if takes else None} for name, n in counts.items()]


def cube_blind_table(checker: CheckerDecisions, seed: int, replicates: int) -> Rows:
    """The cube-blind floor, by place of the cube (seen from who plays) and game plan: cubeful PR of the play that is best without a cube,
    intervals by game, and the share of decisions where another one is better with it."""
    loss = cube_blind_loss(checker)
    everywhere = np.ones(len(checker), bool)
    places = {"all": everywhere} | {name: checker.cubes.owner == code for code, name in LOCATIONS.items()}
    plans = {"all": everywhere} | {str(plan): checker.plans == plan for plan in np.unique(checker.plans)}
    rows: Rows = []
    for place, held in places.items():
        for plan, mask in plans.items():
            part = held & mask
            if not part.any():
                continue
            rng = generator(seed, "cube_fit.cube_blind")
            floor = stats.bootstrap_mean(loss[part], checker.games[part], rng, replicates, PR_SCALE)
            row = {"cube": place, "game plan": plan, "decisions": int(part.sum()), "PR": floor}
            rows.append(row | {"another play is better": float((loss[part] > 0).mean())})
    return rows

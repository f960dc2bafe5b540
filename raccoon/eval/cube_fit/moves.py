"""Choice of the play by Janowski's model under several settings, given the reference's own probabilities; fits as in ``variants``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from raccoon import stats
from raccoon.contracts import Figure
from raccoon.cube.janowski import X_CONTACT
from raccoon.env import ragged
from raccoon.eval.cube_fit.index import JanowskiOnReferences, best_index, published, rmse
from raccoon.eval.cube_fit.references import ReferenceEquities
from raccoon.eval.cube_fit.tables import Rows, halves
from raccoon.eval.cube_fit.variants import ONE_INDEX, SHIFTED, SHIFTS
from raccoon.rng import generator

__all__ = ["best_shift", "moves_table"]


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
    zero, at_published = np.zeros(len(references)), np.full(len(references), X_CONTACT)
    settings: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {
        "published, .68": (at_published, zero),
        "published, .68 contact and .60 race": (published(references), zero),
        ONE_INDEX: (_cross_fitted(references, first, everywhere, X_CONTACT, best_index), zero),
        "centred refitted, .68 elsewhere": (
            np.where(centred, _cross_fitted(references, first, centred, X_CONTACT, best_index), X_CONTACT),
            zero,
        ),
        SHIFTED: (at_published, _cross_fitted(references, first, everywhere, 0.0, best_shift)),
        "dead cube, 0": (zero, zero),
        "live cube, 1": (zero + 1.0, zero),
    }
    rows: Rows = []
    baseline: NDArray[np.float64] | None = None
    for name, setting in settings.items():
        chosen = ragged.argmax(model.equity(*setting), offsets)
        loss = top - references.reported[chosen]
        baseline = loss if baseline is None else baseline
        rng = [generator(seed, "cube_fit.moves") for _ in range(2)]
        less: Figure | None = None if baseline is loss else stats.paired_bootstrap(baseline, loss, games, rng[0], replicates)
        lost = stats.bootstrap_mean(loss, games, rng[1], replicates)
        rows.append({"model": name, "decisions": len(starts), "best play": float((loss <= 0).mean()), "lost": lost, "less lost": less})
    return rows


def _cross_fitted(
    references: ReferenceEquities,
    first: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    start: float,
    fit: Callable[[ReferenceEquities], float],
) -> NDArray[np.float64]:
    """``float64[M]``: what fits the equities of ``rows`` best in the *other* half of the games; ``start`` where nothing tells."""
    found = np.full(len(references), start)
    for half in (first, ~first):
        part = references.take(half & rows)
        value = fit(part) if len(part) else np.nan
        found[~half] = value if np.isfinite(value) else start
    return found


def best_shift(references: ReferenceEquities) -> float:
    """The shift of least squared error at .68, in points per unit of the cube to the side on roll."""
    model = JanowskiOnReferences(references)
    found = minimize_scalar(lambda shift: rmse(model.residual(X_CONTACT, shift)), bounds=(SHIFTS[0], SHIFTS[-1]), method="bounded")
    return float(found.x)

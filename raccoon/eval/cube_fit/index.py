"""The cube-life index that references ask for: Janowski's model on the terms of each reference, and the best-fitting index."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon import stats
from raccoon.contracts import OPPONENT, CubeRules, Cubes, Figure
from raccoon.cube.choice import with_beavers
from raccoon.cube.janowski import cl2cf_money, cube_index
from raccoon.eval.cube_fit.references import ReferenceEquities

__all__ = ["GRID", "JanowskiOnReferences", "best", "best_index", "ends", "fitted", "published", "rmse", "with_option"]

GRID = np.linspace(0.0, 1.0, 101)
"""Indices at which squared errors are summed; the best is read off the parabola through the lowest three."""


class JanowskiOnReferences:
    """Janowski's equities of ``references`` at any index, like for like with their references.

    Where the reference includes the right to double, so does the model: the better for the side on roll of keeping the cube
    and of doubling, which the other side takes or passes as is better for *it*.
    """

    def __init__(self, references: ReferenceEquities) -> None:
        self.references = references
        self._held = ends(references.probs5, references.owner, references.jacoby)
        self._turned = ends(references.probs5, np.full(len(references), OPPONENT, np.int8), False) if references.includes_double else None

    def equity(self, x: ArrayLike, shift: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
        """``float64[M]`` at index ``x`` (one, or one a row), to the side that results are told from. ``shift``: points per unit of the cube
        that the side on roll gets beyond the model, wherever the cube is."""
        dead, gap = self._held
        value = dead + np.asarray(x, np.float64) * gap + shift
        if self._turned is None:
            return self.references.sign * value
        dead, gap = self._turned
        return with_option(self.references, value, dead + np.asarray(x, np.float64) * gap + shift)

    def residual(self, x: ArrayLike, shift: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
        """``float64[M]``: the model at ``x`` and ``shift`` minus the reference."""
        return self.equity(x, shift) - self.references.reported

    def profile(self, clusters: NDArray[np.int64]) -> NDArray[np.float64]:
        """``float64[G, len(GRID) + 1]``: squared errors at each index of ``GRID`` summed by cluster, and the numbers of rows."""
        groups, inverse = np.unique(clusters, return_inverse=True)
        columns = [np.bincount(inverse, self.residual(x) ** 2, len(groups)) for x in GRID]
        return np.stack([*columns, np.bincount(inverse, minlength=len(groups))], axis=1).astype(np.float64)


def with_option(references: ReferenceEquities, held: NDArray[np.float64], turned: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[M]``, to the side that results are told from: the side on roll keeps the cube, ``held``, or doubles, as is better for it;
    ``turned``: the equity once the other side has the cube, in its unit."""
    taken = with_beavers(2.0 * turned, Cubes.centred(len(turned), CubeRules(beavers=references.beavers)))
    value = np.where(references.owner == OPPONENT, held, np.maximum(held, np.minimum(taken, 1.0)))
    return references.sign * value


def ends(probs5: NDArray[np.float64], owner: NDArray[np.int8], jacoby: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``float64[N]`` twice: equity with a dead cube, and what a live one adds; the model is the first plus ``x`` times the second."""
    dead = cl2cf_money(probs5, owner, 0.0, jacoby)
    return dead, cl2cf_money(probs5, owner, 1.0, jacoby) - dead


def published(references: ReferenceEquities) -> NDArray[np.float64]:
    """``float64[M]``: the published indices, of contact and of races."""
    return cube_index(references.boards)


def best(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """``float64[R]``: index of least squared error of ``sums [R, len(GRID) + 1]``, in [0, 1]; NaN where all indices are the same."""
    errors = sums[:, : len(GRID)]
    lowest = np.argmin(errors, axis=1)
    at: NDArray[np.int64] = np.clip(lowest, 1, len(GRID) - 2)
    rows = np.arange(len(errors))
    left, middle, right = (errors[rows, at + step] for step in (-1, 0, 1))
    bend = left - 2.0 * middle + right
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(bend > 0, 0.5 * (left - right) / bend, lowest - at)
    index = np.clip(GRID[at] + np.clip(shift, -1.0, 1.0) * (GRID[1] - GRID[0]), 0.0, 1.0)
    return np.where(np.ptp(errors, axis=1) > 0, index, np.nan).astype(np.float64)


def best_index(references: ReferenceEquities) -> float:
    """Index of least squared error of ``references``; NaN where all are the same."""
    return float(best(JanowskiOnReferences(references).profile(references.game).sum(axis=0, keepdims=True))[0])


def fitted(sums: NDArray[np.float64], rng: np.random.Generator, replicates: int) -> Figure:
    """Best index of a profile by cluster, with the bootstrap interval over clusters."""
    n = int(sums[:, -1].sum())
    value = float(best(sums.sum(axis=0, keepdims=True))[0])
    if len(sums) < 2:
        return Figure(value, n=n)
    return stats.percentile_figure(value, stats.cluster_bootstrap(sums, best, rng, replicates), n)


def rmse(residual: NDArray[np.float64]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(residual**2)))

"""Bootstraps: clusters are resampled with replacement, and intervals are percentiles (Efron & Tibshirani 1993).

They work on sums per cluster, so 10,000 replicates cost one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Figure, RaccoonError
from raccoon.stats.intervals import cluster_sums, mean_sd
from raccoon.stats.samples import LEVEL, pair, vector

__all__ = [
    "REPLICATES",
    "bootstrap_mean",
    "cluster_bootstrap",
    "independent_sd_ratio",
    "paired_bootstrap",
    "percentile_figure",
    "sd_ratio_bootstrap",
]

REPLICATES = 10_000
_CHUNK = 2_000_000
"""Resampling weights held at a time (replicates x clusters)."""


def cluster_bootstrap(
    sums: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    rng: np.random.Generator,
    replicates: int = REPLICATES,
) -> NDArray[np.float64]:
    """Bootstrap replicates of a statistic of column totals.

    ``sums float64[G, K]`` from ``cluster_sums``; ``statistic`` maps totals ``[R, K]`` to ``[R]`` (or ``[R, S]``).
    Returns ``[replicates]`` (or ``[replicates, S]``). The draws do not depend on how they are chunked.
    """
    groups = len(sums)
    if groups < 1 or replicates < 1:
        raise RaccoonError(f"bootstrap of {groups} clusters with {replicates} replicates: both must be at least 1")
    step = max(1, _CHUNK // groups)
    parts = []
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        # Counting integer draws is several times faster than Generator.multinomial.
        drawn = rng.integers(0, groups, size=(rows, groups)) + groups * np.arange(rows)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups)
        parts.append(statistic(weights.astype(np.float64) @ sums))
    return np.concatenate(parts)


def percentile_figure(value: float, replicates: NDArray[np.float64], n: int, level: float = LEVEL) -> Figure:
    """``value`` with the percentile interval of its bootstrap replicates; replicates that are not finite are left out."""
    finite = replicates[np.isfinite(replicates)]
    if len(finite) == 0 or not math.isfinite(value):
        return Figure(value, n=n)
    lo, hi = np.quantile(finite, [0.5 - level / 2, 0.5 + level / 2])
    return Figure(value, float(lo), float(hi), n)


def bootstrap_mean(
    x: ArrayLike,
    clusters: ArrayLike | None,
    rng: np.random.Generator,
    replicates: int = REPLICATES,
    scale: float = 1.0,
    level: float = LEVEL,
) -> Figure:
    """``scale`` times the mean of ``x [n]`` with a bootstrap interval over clusters (no interval from one cluster)."""
    values = vector(x, "x")
    sums = cluster_sums(np.column_stack([values, np.ones(len(values))]), clusters)
    mean = scale * float(values.mean())
    if len(sums) < 2:
        return Figure(mean, n=len(values))
    draws = cluster_bootstrap(sums, lambda total: scale * total[:, 0] / total[:, 1], rng, replicates)
    return percentile_figure(mean, draws, len(values), level)


def paired_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None,
    rng: np.random.Generator,
    replicates: int = REPLICATES,
    scale: float = 1.0,
) -> Figure:
    """``scale`` times the mean of ``a - b`` over shared observations, bootstrapped over clusters."""
    first, second = pair(a, b)
    return bootstrap_mean(first - second, clusters, rng, replicates, scale)


def sd_ratio_bootstrap(
    raw: ArrayLike,
    reduced: ArrayLike,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    replicates: int = REPLICATES,
    level: float = LEVEL,
) -> Figure:
    """SD(raw) / SD(reduced) of paired observations ``[n]`` with a bootstrap interval; its square is ``games_equivalent``."""
    x, y = pair(raw, reduced)
    # Centred first: the variance is then not the small difference of two large sums.
    x, y = x - x.mean(), y - y.mean()
    sums = cluster_sums(np.column_stack([np.ones(len(x)), x, x * x, y, y * y]), clusters)

    def ratio(total: NDArray[np.float64]) -> NDArray[np.float64]:
        n, sx, sxx, sy, syy = total.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(np.maximum(sxx - sx * sx / n, 0) / (syy - sy * sy / n))

    value = float(ratio(sums.sum(axis=0, keepdims=True))[0])
    if len(sums) < 2:
        return Figure(value, n=len(x))
    return percentile_figure(value, cluster_bootstrap(sums, ratio, rng, replicates), len(x), level)


def independent_sd_ratio(a: ArrayLike, b: ArrayLike, rng: np.random.Generator, replicates: int = REPLICATES) -> Figure:
    """SD(a) / SD(b) of two independent samples ``[n]``, ``[m]``, each resampled on its own for the bootstrap interval."""

    def sds(total: NDArray[np.float64]) -> NDArray[np.float64]:
        n, s, ss = total.T
        return np.sqrt(np.maximum(ss - s * s / n, 0.0) / (n - 1))

    draws = []
    for x in (vector(a, "first sample"), vector(b, "second sample")):
        centred = x - x.mean()
        columns = np.column_stack([np.ones(len(x)), centred, centred * centred])
        draws.append(cluster_bootstrap(columns, sds, rng, replicates))
    with np.errstate(divide="ignore", invalid="ignore"):
        return percentile_figure(mean_sd(a)[1] / mean_sd(b)[1], draws[0] / draws[1], int(np.size(a)))

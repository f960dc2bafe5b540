"""The one place for intervals, bootstraps and power. Nothing here draws from a global generator.

Intervals are two-sided at ``LEVEL``. Observations that belong together (the decisions of one game, the games of one
match) are given as ``clusters``: any integer or string label per observation; the interval then treats whole clusters
as the independent units. Bootstraps resample clusters with replacement and take percentiles (Efron & Tibshirani 1993);
they work on sums per cluster, so 10,000 replicates cost one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from raccoon.contracts import Figure, RaccoonError

__all__ = [
    "LEVEL",
    "REPLICATES",
    "beta",
    "bootstrap_mean",
    "cluster_bootstrap",
    "cluster_sums",
    "correlation",
    "games_equivalent",
    "games_needed",
    "independent_sd_ratio",
    "mean_ci",
    "mean_sd",
    "paired_bootstrap",
    "percentile_figure",
    "power",
    "proportion_ci",
    "running_ci",
    "sd_ratio_bootstrap",
    "t_statistic",
    "welch_difference",
]

LEVEL = 0.95
REPLICATES = 10_000
_CHUNK = 2_000_000
"""Resampling weights held at a time (replicates x clusters)."""


def mean_ci(x: ArrayLike, clusters: ArrayLike | None = None, level: float = LEVEL) -> Figure:
    """Mean of ``x [n]`` with Student's t interval from the sample SD.

    With ``clusters``: the cluster-robust standard error (Liang & Zeger 1986) with the G / (G - 1) correction and G - 1
    degrees of freedom. One observation (or one cluster) gives no interval. Raises RaccoonError when ``x`` is empty.
    """
    values = _vector(x, "x")
    n = len(values)
    mean = float(values.mean())
    if clusters is None:
        units, residual = n, values - mean
    else:
        sums = cluster_sums(np.column_stack([values - mean]), clusters)
        units, residual = len(sums), sums[:, 0]
    if units < 2:
        return Figure(mean, n=n)
    error = math.sqrt(units / (units - 1) * float(residual @ residual)) / n
    half = float(special.stdtrit(units - 1, 0.5 + level / 2)) * error
    return Figure(mean, mean - half, mean + half, n)


def mean_sd(x: ArrayLike) -> tuple[float, float]:
    """Mean and sample SD (n - 1) of ``x [n]``; the SD of one observation is NaN."""
    values = _vector(x, "x")
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan


def t_statistic(x: ArrayLike, mean: float = 0.0) -> float:
    """Student's t of the hypothesis that ``x [n]`` has the given mean; NaN when the SD is 0 or unknown."""
    value, sd = mean_sd(x)
    return (value - mean) / (sd / math.sqrt(np.size(x))) if sd > 0 else math.nan


def welch_difference(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> Figure:
    """Difference of the means of two independent samples ``[n]``, ``[m]`` with Welch's interval (none when neither varies)."""
    x, y = _vector(a, "first sample"), _vector(b, "second sample")
    difference = float(x.mean() - y.mean())
    variances = [float(sample.var(ddof=1)) / len(sample) if len(sample) > 1 else math.nan for sample in (x, y)]
    error = sum(variances)
    if not error > 0:
        return Figure(difference, n=len(x))
    freedom = error**2 / sum(v * v / (len(sample) - 1) for v, sample in zip(variances, (x, y), strict=True))
    half = float(special.stdtrit(freedom, 0.5 + level / 2)) * math.sqrt(error)
    return Figure(difference, difference - half, difference + half, len(x))


def running_ci(x: ArrayLike, level: float = LEVEL) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """``(n, mean, half)``: after each n = 2.. observations, their mean and the half width of its normal interval."""
    values = np.asarray(x, dtype=np.float64)
    n = np.arange(1, len(values) + 1)
    # Shifted by the overall mean: the running variance is then not the difference of two large sums.
    shift = float(values.mean()) if len(values) else 0.0
    centred = values - shift
    mean = np.cumsum(centred) / n
    variance = np.maximum(np.cumsum(centred**2) - n * mean**2, 0.0)[1:] / (n[1:] - 1)
    return n[1:], mean[1:] + shift, float(special.ndtri(0.5 + level / 2)) * np.sqrt(variance / n[1:])


def proportion_ci(successes: int, n: int, level: float = LEVEL) -> Figure:
    """A share with Wilson's score interval (Wilson 1927), which stays within [0, 1]."""
    if n < 1 or not 0 <= successes <= n:
        raise RaccoonError(f"successes={successes}, n={n}: give 0 <= successes <= n and n >= 1")
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return Figure(share, max(0.0, centre - half), min(1.0, centre + half), n)


def cluster_sums(columns: ArrayLike, clusters: ArrayLike | None) -> NDArray[np.float64]:
    """``float64[G, K]``: sums of ``columns [n, K]`` within each cluster (each row its own when None)."""
    values = np.asarray(columns, dtype=np.float64)
    if clusters is None:
        return values
    labels = np.asarray(clusters)
    if labels.shape != (len(values),):
        raise RaccoonError(f"clusters of shape {labels.shape}: give one label for each of the {len(values)} observations")
    groups, inverse = np.unique(labels, return_inverse=True)
    sums = [np.bincount(inverse, weights=column, minlength=len(groups)) for column in values.T]
    return np.stack(sums, axis=1).astype(np.float64)


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
    values = _vector(x, "x")
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
    first, second = _pair(a, b)
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
    x, y = _pair(raw, reduced)
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
    for x in (_vector(a, "first sample"), _vector(b, "second sample")):
        centred = x - x.mean()
        columns = np.column_stack([np.ones(len(x)), centred, centred * centred])
        draws.append(cluster_bootstrap(columns, sds, rng, replicates))
    with np.errstate(divide="ignore", invalid="ignore"):
        return percentile_figure(mean_sd(a)[1] / mean_sd(b)[1], draws[0] / draws[1], int(np.size(a)))


def correlation(x: ArrayLike, y: ArrayLike, level: float = LEVEL) -> Figure:
    """Pearson's r of ``x, y [n]`` with Fisher's z interval (n > 3); NaN when either does not vary."""
    a, b = _pair(x, y)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if scale == 0:
        return Figure(math.nan, n=len(a))
    r = max(-1.0, min(1.0, float(a @ b) / scale))
    if len(a) <= 3 or abs(r) == 1:
        return Figure(r, n=len(a))
    half = float(special.ndtri(0.5 + level / 2)) / math.sqrt(len(a) - 3)
    return Figure(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), len(a))


def beta(result: ArrayLike, luck: ArrayLike, level: float = LEVEL) -> Figure:
    """Slope of the regression of ``result`` on ``luck`` (both ``[n]``) with its t interval (n > 2).

    With a perfect control variate it is 1. It is a diagnostic: the estimator keeps its coefficient fixed at 1.
    """
    y, x = _pair(result, luck)
    x, y = x - x.mean(), y - y.mean()
    sxx = float(x @ x)
    if sxx == 0:
        return Figure(math.nan, n=len(x))
    slope = float(x @ y) / sxx
    if len(x) <= 2:
        return Figure(slope, n=len(x))
    residual = y - slope * x
    half = float(special.stdtrit(len(x) - 2, 0.5 + level / 2)) * math.sqrt(float(residual @ residual) / (len(x) - 2) / sxx)
    return Figure(slope, slope - half, slope + half, len(x))


def power(n: int, sd: float, effect: float, level: float = LEVEL) -> float:
    """Chance that a two-sided z test of ``n`` observations of the given SD finds a true mean of ``effect``."""
    _positive(n=n, sd=sd)
    shift = abs(effect) * math.sqrt(n) / sd
    critical = float(special.ndtri(0.5 + level / 2))
    return float(special.ndtr(shift - critical) + special.ndtr(-shift - critical))


def games_needed(sd: float, effect: float, wanted: float = 0.8, level: float = LEVEL) -> int:
    """Fewest observations with which a true mean of ``effect`` is found with probability ``wanted``."""
    _positive(sd=sd, effect=abs(effect))
    if not (1 - level) < wanted < 1:
        raise RaccoonError(f"wanted={wanted}: a power between {1 - level:.2g} and 1")
    guess = max(1, math.ceil(((special.ndtri(0.5 + level / 2) + special.ndtri(wanted)) * sd / abs(effect)) ** 2))
    while guess > 1 and power(guess - 1, sd, effect, level) >= wanted:
        guess -= 1
    while power(guess, sd, effect, level) < wanted:
        guess += 1
    return guess


def games_equivalent(sd_ratio: float) -> float:
    """How many raw games one variance-reduced game is worth."""
    return sd_ratio**2


def _vector(x: ArrayLike, name: str) -> NDArray[np.float64]:
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise RaccoonError(f"{name} of shape {values.shape}: give a vector of at least one observation")
    return values


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = _vector(a, "first sample"), _vector(b, "second sample")
    if len(first) != len(second):
        raise RaccoonError(f"paired samples of {len(first)} and {len(second)} observations: both must describe the same ones")
    return first, second


def _positive(**named: float) -> None:
    for name, value in named.items():
        if not value > 0:
            raise RaccoonError(f"{name}={value}: must be above 0")

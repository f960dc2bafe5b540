"""Means, shares, correlations and their textbook intervals, of single observations or of whole clusters."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from raccoon.contracts import Figure, RaccoonError
from raccoon.stats.samples import LEVEL, pair, vector

__all__ = ["beta", "cluster_sums", "correlation", "mean_ci", "mean_sd", "proportion_ci", "running_ci", "t_statistic", "welch_difference"]


def mean_ci(x: ArrayLike, clusters: ArrayLike | None = None, level: float = LEVEL) -> Figure:
    """Mean of ``x [n]`` with Student's t interval from the sample SD.

    With ``clusters``: the cluster-robust standard error (Liang & Zeger 1986) with the G / (G - 1) correction and G - 1
    degrees of freedom. One observation (or one cluster) gives no interval. Raises RaccoonError when ``x`` is empty.
    """
    mean, error, units = _mean_error(x, clusters)
    if units < 2:
        return Figure(mean, n=np.size(x))
    half = float(special.stdtrit(units - 1, 0.5 + level / 2)) * error
    return Figure(mean, mean - half, mean + half, np.size(x))


def _mean_error(x: ArrayLike, clusters: ArrayLike | None) -> tuple[float, float, int]:
    """Mean of ``x [n]``, its standard error (NaN of one unit) and the number of independent units: clusters, or observations."""
    values = vector(x, "x")
    mean = float(values.mean())
    residual = cluster_sums((values - mean)[:, None], clusters)[:, 0]
    units = len(residual)
    return mean, math.sqrt(units / (units - 1) * float(residual @ residual)) / len(values) if units > 1 else math.nan, units


def mean_sd(x: ArrayLike) -> tuple[float, float]:
    """Mean and sample SD (n - 1) of ``x [n]``; the SD of one observation is NaN."""
    values = vector(x, "x")
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan


def t_statistic(x: ArrayLike, mean: float = 0.0, clusters: ArrayLike | None = None) -> float:
    """Student's t of the hypothesis that ``x [n]`` has the given mean, with the standard error of ``mean_ci``; NaN when that is 0 or
    unknown."""
    value, error, _ = _mean_error(x, clusters)
    return (value - mean) / error if error > 0 else math.nan


def welch_difference(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> Figure:
    """Difference of the means of two independent samples ``[n]``, ``[m]`` with Welch's interval (none when neither varies)."""
    x, y = vector(a, "first sample"), vector(b, "second sample")
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


def correlation(x: ArrayLike, y: ArrayLike, level: float = LEVEL) -> Figure:
    """Pearson's r of ``x, y [n]`` with Fisher's z interval (n > 3); NaN when either does not vary."""
    a, b = pair(x, y)
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
    y, x = pair(result, luck)
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

"""Intervals, bootstraps and power against scipy, closed forms and simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats as reference

from raccoon import stats
from raccoon.contracts import Figure, RaccoonError
from raccoon.rng import generator
from raccoon.stats import bootstrap


def sample(n: int = 200, index: int = 0) -> np.ndarray:
    return generator(7, "test", index).normal(0.3, 1.4, n)


def test_mean_ci_is_student_t() -> None:
    x = sample()
    figure = stats.mean_ci(x)
    lo, hi = reference.t.interval(0.95, len(x) - 1, loc=x.mean(), scale=reference.sem(x))
    assert (figure.value, figure.lo, figure.hi, figure.n) == (pytest.approx(x.mean()), pytest.approx(lo), pytest.approx(hi), 200)


def test_one_observation_or_one_cluster_has_no_interval() -> None:
    assert stats.mean_ci([2.5]) == Figure(2.5, n=1)
    assert stats.mean_ci([1.0, 2.0], [4, 4]) == Figure(1.5, n=2)
    assert stats.bootstrap_mean([1.0, 2.0], [4, 4], generator(1, "b")).lo is None


def test_clusters_of_one_change_nothing_and_copies_do_not_narrow() -> None:
    x = sample()
    plain = stats.mean_ci(x)
    single = stats.mean_ci(x, np.arange(len(x)))
    assert (single.lo, single.hi) == (pytest.approx(plain.lo), pytest.approx(plain.hi))
    copied = stats.mean_ci(np.repeat(x, 5), np.repeat(np.arange(len(x)), 5))
    assert (copied.lo, copied.hi) == (pytest.approx(plain.lo), pytest.approx(plain.hi))


def test_cluster_labels_may_be_text_and_must_fit() -> None:
    assert np.array_equal(stats.cluster_sums([[1.0], [2.0], [4.0]], ["b", "a", "b"]), [[2.0], [5.0]])
    with pytest.raises(RaccoonError, match="one label"):
        stats.mean_ci([1.0, 2.0], [1])


def test_interval_covers_the_true_mean() -> None:
    rng = generator(3, "coverage")
    draws = rng.exponential(1.0, (1500, 60))
    hits = [f.lo <= 1.0 <= f.hi for f in map(stats.mean_ci, draws) if f.lo is not None and f.hi is not None]
    assert 0.91 < np.mean(hits) < 0.97


def test_bootstrap_mean_matches_scipy_bootstrap() -> None:
    x = sample(150)
    figure = stats.bootstrap_mean(x, None, generator(1, "boot"))
    expected = reference.bootstrap((x,), np.mean, method="percentile", rng=np.random.default_rng(1)).confidence_interval
    assert figure.lo == pytest.approx(expected.low, abs=0.02)
    assert figure.hi == pytest.approx(expected.high, abs=0.02)


def test_bootstrap_by_cluster_equals_a_loop() -> None:
    x, clusters = sample(90), np.repeat(np.arange(15), 6)
    x = x + 2 * sample(15, 1)[clusters]
    figure = stats.bootstrap_mean(x, clusters, generator(1, "boot"), scale=500)
    rng = np.random.default_rng(5)
    games = [x[clusters == g] for g in range(15)]
    slow = [500 * np.concatenate([games[g] for g in rng.integers(0, 15, 15)]).mean() for _ in range(4000)]
    width = float(np.subtract(*np.quantile(slow, [0.975, 0.025])))
    assert figure.lo is not None
    assert figure.hi is not None
    assert figure.hi - figure.lo == pytest.approx(width, rel=0.06)
    naive = stats.mean_ci(x)
    assert naive.lo is not None
    assert naive.hi is not None
    assert figure.hi - figure.lo > 1.4 * 500 * (naive.hi - naive.lo)


def test_bootstrap_is_repeatable_and_independent_of_its_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sample(37)
    whole = stats.bootstrap_mean(x, None, generator(1, "boot"), 500)
    assert whole == stats.bootstrap_mean(x, None, generator(1, "boot"), 500)
    assert whole != stats.bootstrap_mean(x, None, generator(2, "boot"), 500)
    monkeypatch.setattr(bootstrap, "_CHUNK", 37 * 7)
    chunked = stats.bootstrap_mean(x, None, generator(1, "boot"), 500)
    assert (chunked.lo, chunked.hi) == (pytest.approx(whole.lo), pytest.approx(whole.hi))


def test_paired_bootstrap_agrees_with_ttest_rel() -> None:
    a = sample()
    b = a + 0.1 * sample(200, 1)
    expected = reference.ttest_rel(a, b).confidence_interval(0.95)
    paired = stats.paired_bootstrap(a, b, None, generator(1, "boot"))
    assert paired.value == pytest.approx(float(np.mean(a - b)))
    assert paired.lo == pytest.approx(expected.low, abs=0.01)
    with pytest.raises(RaccoonError, match="paired samples of 200 and 3"):
        stats.paired_bootstrap(a, a[:3], None, generator(1, "boot"))


def test_welch_difference_is_ttest_ind() -> None:
    a, b = sample(40), 2 * sample(70, 1)
    figure = stats.welch_difference(a, b)
    expected = reference.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert (figure.lo, figure.hi) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert figure.value == pytest.approx(a.mean() - b.mean())
    assert stats.welch_difference([1.0, 1.0], [2.0, 2.0]) == Figure(-1.0, n=2)
    assert stats.welch_difference([1.0], [2.0, 3.0]).lo is None


def test_independent_sd_ratio_covers_the_truth() -> None:
    inside = 0
    for trial in range(15):
        figure = stats.independent_sd_ratio(3 * sample(60, 2 * trial), 5 + sample(60, 2 * trial + 1), generator(trial, "test"), 2000)
        inside += bool(figure.lo is not None and figure.hi is not None and figure.lo < 3 < figure.hi)
    assert inside >= 12


def test_running_interval() -> None:
    x = np.array([1.0, 3.0, 2.0, 6.0])
    n, mean, half = stats.running_ci(x)
    assert n.tolist() == [2, 3, 4]
    assert mean.tolist() == pytest.approx([2.0, 2.0, 3.0])
    assert half.tolist() == pytest.approx([1.959964 * np.std(x[:k], ddof=1) / math.sqrt(k) for k in (2, 3, 4)])


def test_sd_ratio() -> None:
    raw, noise = sample(4000), sample(4000, 1)
    reduced = 100.0 + 0.2 * (raw + 0.1 * noise)
    figure = stats.sd_ratio_bootstrap(raw, reduced, generator(1, "ratio"), replicates=2000)
    assert figure.value == pytest.approx(raw.std(ddof=1) / reduced.std(ddof=1))
    assert figure.lo is not None
    assert figure.hi is not None
    assert figure.lo < figure.value < figure.hi
    assert stats.games_equivalent(6.5) == 42.25
    assert math.isinf(stats.sd_ratio_bootstrap(raw, np.zeros(4000), generator(1, "ratio"), replicates=10).value)


def test_correlation_and_beta_match_scipy() -> None:
    luck = sample()
    result = luck + 0.2 * sample(200, 1)
    r = stats.correlation(result, luck)
    expected: Any = reference.pearsonr(result, luck)
    interval = expected.confidence_interval(0.95)
    assert (r.value, r.lo, r.hi) == (pytest.approx(expected.statistic), pytest.approx(interval.low), pytest.approx(interval.high))
    slope = stats.beta(result, luck)
    line: Any = reference.linregress(luck, result)
    half = reference.t.ppf(0.975, 198) * line.stderr
    assert (slope.value, slope.hi) == (pytest.approx(line.slope), pytest.approx(line.slope + half))
    assert math.isnan(stats.correlation([1.0, 1.0], [1.0, 2.0]).value)
    assert math.isnan(stats.beta([1.0, 2.0], [1.0, 1.0]).value)


def test_proportion_is_wilson() -> None:
    figure = stats.proportion_ci(3, 40)
    expected = reference.binomtest(3, 40).proportion_ci(0.95, method="wilson")
    assert (figure.lo, figure.hi) == (pytest.approx(expected.low), pytest.approx(expected.high))
    with pytest.raises(RaccoonError, match="successes=5"):
        stats.proportion_ci(5, 4)


def test_t_statistic() -> None:
    x = sample()
    expected: Any = reference.ttest_1samp(x, 0)
    assert stats.t_statistic(x) == pytest.approx(expected.statistic)
    assert math.isnan(stats.t_statistic([1.0]))
    assert math.isnan(stats.t_statistic([1.0, 1.0]))
    assert stats.t_statistic(np.repeat(x, 4), clusters=np.repeat(np.arange(len(x)), 4)) == pytest.approx(expected.statistic)
    assert math.isnan(stats.mean_sd([1.0])[1])


def test_power_and_games_needed() -> None:
    assert stats.power(100, 1.0, 0.0) == pytest.approx(0.05)
    hits = np.abs(generator(1, "power").normal(0.05, 1.8 / math.sqrt(6000), 200_000)) > 1.959964 * 1.8 / math.sqrt(6000)
    assert stats.power(6000, 1.8, 0.05) == pytest.approx(hits.mean(), abs=0.005)
    n = stats.games_needed(1.37, 0.05, 0.8)
    assert stats.power(n, 1.37, 0.05) >= 0.8 > stats.power(n - 1, 1.37, 0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.mean_ci([]), "at least one"),
        (lambda: stats.power(0, 1.0, 0.1), "n=0"),
        (lambda: stats.games_needed(1.0, 0.0), "effect=0"),
        (lambda: stats.games_needed(1.0, 0.1, 1.0), "wanted=1.0"),
        (lambda: stats.bootstrap_mean([1.0, 2.0], None, generator(1, "b"), 0), "replicates"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        call()

"""Dice of rollouts: each the same wherever it is asked for, the first two shared out evenly, all of them fair."""

from __future__ import annotations

import numpy as np

from raccoon.search.rollout.quasi_random import trial_dice


def outcomes(trial: np.ndarray, step: int, seed: int = 1, stratify: bool = True) -> np.ndarray:
    dice = trial_dice(seed, trial, step, stratify).astype(np.int64)
    assert ((dice >= 1) & (dice <= 6)).all()
    return (dice[:, 0] - 1) * 6 + dice[:, 1] - 1


def test_blocks_show_every_roll_and_squares_every_pair() -> None:
    trial = np.arange(2 * 1296)
    first, second = outcomes(trial, 0), outcomes(trial, 1)
    for step in (first, second):
        assert (np.sort(step.reshape(-1, 36), axis=1) == np.arange(36)).all()
        assert (step[:36] != step[36:72]).any()
    pairs = (first * 36 + second).reshape(2, 1296)
    assert (np.sort(pairs, axis=1) == np.arange(1296)).all()
    assert (pairs[0] != pairs[1]).any()


def test_a_trial_of_a_partial_square_is_fair() -> None:
    """Over the seeds the first trial meets all pairs of rolls alike: no bias whatever the number of trials."""
    pairs = [outcomes(np.array([5]), 0, seed)[0] // 6 * 6 + outcomes(np.array([5]), 1, seed)[0] // 6 for seed in range(1800)]
    counts = np.bincount(pairs, minlength=36)[[6 * a + b for a in range(6) for b in range(6)]]
    assert ((counts - 50) ** 2 / 50).sum() < 70  # chi-squared, 35 degrees: 0.04% lie above


def test_nothing_but_the_key_counts() -> None:
    trial = np.array([700, 3, 41, 3, 1295])
    for step in range(4):
        alone = [outcomes(trial[i : i + 1], step)[0] for i in range(len(trial))]
        np.testing.assert_array_equal(outcomes(trial, step), alone)
        assert (outcomes(np.arange(72), step, seed=2) != outcomes(np.arange(72), step)).any()


def test_later_rolls_are_fair() -> None:
    for step, stratify in ((3, True), (0, False)):
        counts = np.bincount(outcomes(np.arange(20_000), step, stratify=stratify), minlength=36)
        assert np.abs(counts - 20_000 / 36).max() < 5 * np.sqrt(20_000 / 36)
    assert len(set(outcomes(np.arange(36), 0, stratify=False))) < 36

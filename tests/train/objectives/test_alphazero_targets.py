"""Value targets of AlphaZero against closed forms, hand cases and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from raccoon.contracts import OUTCOME_POINTS
from raccoon.rng import generator
from raccoon.train.objectives.alphazero_targets import blended, results, tilted
from raccoon.train.objectives.td_targets import lottery


def some_probs(count: int) -> np.ndarray:
    return generator(1, "test tilt").dirichlet(np.ones(6), count)


def test_results_change_sides_with_every_row():
    win_gammon, lose = np.eye(6)[1], np.eye(6)[3]
    lose_gammon, win = np.eye(6)[4], np.eye(6)[0]
    found = results(np.stack([win_gammon, lose]), np.array([0, 4, 6]))
    np.testing.assert_array_equal(found, [lose_gammon, win_gammon, lose_gammon, win_gammon, win, lose])


def test_a_tilt_has_the_value_asked_for_and_leaves_what_has_it_already():
    probs = some_probs(50)
    values = generator(2, "test tilt").uniform(-0.98, 0.98, 50)
    found = tilted(probs, values)
    np.testing.assert_allclose(found @ OUTCOME_POINTS / 3, values, atol=1e-8)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(tilted(probs, probs @ OUTCOME_POINTS / 3), probs, atol=1e-7)


def test_of_all_distributions_with_that_value_a_tilt_is_the_nearest():
    for probs, value in zip(some_probs(4), (-0.5, -0.1, 0.2, 0.6), strict=True):
        rules = [{"type": "eq", "fun": lambda q: q.sum() - 1}, {"type": "eq", "fun": lambda q, v=value: q @ OUTCOME_POINTS / 3 - v}]
        least = minimize(
            lambda q, p=probs: float((q * np.log(q / p)).sum()), np.full(6, 1 / 6), bounds=[(1e-9, 1)] * 6, constraints=rules, tol=1e-12
        )
        assert least.success
        np.testing.assert_allclose(tilted(probs[None], np.array([value]))[0], least.x, atol=2e-4)


def test_a_lottery_tilts_to_the_lottery_of_the_value():
    values = np.array([-0.9, 0.0, 0.35])
    np.testing.assert_allclose(tilted(lottery(np.array([0.1, -0.7, 0.35])), values), lottery(values), atol=2e-5)


@pytest.mark.parametrize("value", [-1.0, 1.0, -7.0, 7.0])
def test_certain_values_are_reached_from_anywhere(value):
    found = tilted(np.eye(6), np.full(6, value))
    np.testing.assert_allclose(found @ OUTCOME_POINTS / 3, np.sign(value), atol=1e-5)


def test_a_blend_has_the_blended_value():
    result, searched = np.eye(6)[[1, 3]], some_probs(2)
    found = blended(result, searched, 0.3) @ OUTCOME_POINTS
    np.testing.assert_allclose(found, 0.3 * np.array([2.0, -1.0]) + 0.7 * (searched @ OUTCOME_POINTS))

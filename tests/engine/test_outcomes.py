"""The two forms of an outcome distribution, by hand and there and back."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import OUTCOME_POINTS
from raccoon.engine.outcomes import exact_probs6, five_from_six, points_from_five, six_from_five

FIVE, SIX = [0.6, 0.2, 0.05, 0.1, 0.02], [0.40, 0.15, 0.05, 0.30, 0.08, 0.02]


def test_known_numbers() -> None:
    assert six_from_five(np.array([FIVE]))[0] == pytest.approx(SIX)
    assert five_from_six(np.array([SIX]))[0] == pytest.approx(FIVE)
    assert points_from_five(np.array([FIVE]))[0] == pytest.approx(0.33)


def test_there_and_back_and_equal_points() -> None:
    six = np.random.default_rng(1).dirichlet(np.full(6, 0.4), 500)
    np.testing.assert_allclose(six_from_five(five_from_six(six)), six, atol=1e-14)
    np.testing.assert_allclose(points_from_five(five_from_six(six)), six @ OUTCOME_POINTS, atol=1e-14)


def test_inconsistent_chances_are_clipped_and_renormalised() -> None:
    six = six_from_five(np.array([[0.5, 0.6, 0.0, 0.0, 0.0]]))[0]
    assert (six >= 0).all()
    assert six.sum() == pytest.approx(1)


def test_finished_games_are_one_hot() -> None:
    one_hot = exact_probs6(np.array([1, 2, 3, -1, -2, -3]))
    assert np.array_equal(one_hot, np.eye(6))
    assert points_from_five(five_from_six(one_hot)).tolist() == [1, 2, 3, -1, -2, -3]
    assert not exact_probs6(np.array([0])).any()

"""The noise floor: what standard errors charge a player who makes no error, against closed forms and simulated measurements."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from raccoon.eval.benchmark.decisions import CheckerDecisions
from raccoon.eval.benchmark.loader import load
from raccoon.eval.references.noise import checker_charges, noise_table, two_way_charge


def plays(values: list[list[float]], errors: list[list[float]], paired: float = np.nan) -> CheckerDecisions:
    """Decisions of the embedded file with these values and errors of their candidates; ``paired``: of the difference to the best."""
    whole = load().checker
    sizes = np.array([len(row) for row in values])
    rows = np.flatnonzero(np.isin(np.diff(whole.offsets), sizes))
    rows = np.array([rows[np.diff(whole.offsets)[rows] == size][number] for number, size in enumerate(sizes)])
    cubeless, error = np.concatenate(values), np.concatenate(errors)
    found = replace(whole.take(rows), cubeless=cubeless, std_error=error)
    best = np.repeat([max(row) for row in values], sizes) == cubeless
    return replace(found, difference_se=np.where(best, 0.0, paired) if paired == paired else np.full(len(cubeless), np.nan))


def test_two_answers_have_a_closed_form() -> None:
    gap, error = np.array([0.0, 0.02, 0.02]), np.array([0.01, 0.02, 0.0])
    normal = NormalDist()
    wanted = [0.01 * normal.pdf(0), 0.02 * (normal.pdf(1) - normal.cdf(-1)), 0.0]
    np.testing.assert_allclose(two_way_charge(gap, error), wanted)
    rng = np.random.default_rng(1)
    measured = 0.02 + 0.02 * rng.standard_normal(200_000)  # what the better answer is measured ahead; behind, it is charged so much
    assert two_way_charge(gap, error)[1] == pytest.approx(np.maximum(-measured, 0).mean(), rel=0.02)


@pytest.mark.parametrize(("paired", "error"), [(np.nan, np.hypot(0.02, 0.01)), (0.012, 0.012), (0.03, 0.03)])
def test_plays_are_charged_by_the_error_of_their_difference(paired: float, error: float) -> None:
    """Two candidates: the closed form, whether the dice are shared (errors of the difference given) or not."""
    checker = plays([[0.1, 0.09]] * 4, [[0.02, 0.01]] * 4, paired)
    found = checker_charges(checker, seed=1, draws=4000)
    assert found.mean() == pytest.approx(two_way_charge(np.array([0.01]), np.array([error]))[0], rel=0.05)


def test_more_candidates_charge_more_and_those_without_errors_nothing() -> None:
    same = checker_charges(plays([[0.1, 0.1]], [[0.02, 0.02]]), 1, 4000)[0]
    more = checker_charges(plays([[0.1, 0.1, 0.1]], [[0.02, 0.02, 0.02]]), 1, 4000)[0]
    assert same == pytest.approx(0.02 / np.sqrt(np.pi), rel=0.05)  # the larger of two equals
    assert more == pytest.approx(0.02 * 1.5 / np.sqrt(np.pi), rel=0.05)  # of three
    nothing = np.nan
    assert checker_charges(plays([[0.1, 0.1]], [[nothing, nothing]]), 1, 10)[0] == 0


def test_the_table_of_a_hand_made_file() -> None:
    whole = load()
    checker = plays([[0.1, 0.095], [0.1, 0.085], [0.1, 0.0]], [[0.01, 0.01]] * 3, 0.01)
    checker = replace(checker, tiers=np.array(["rollout", "rollout", "3P"]))
    errors = {name: np.where(np.arange(6) < 4, getattr(checker, name), np.nan) for name in ("std_error", "difference_se")}
    checker = replace(checker, **errors)
    cube = whole.cube.take(np.flatnonzero(whole.cube.has_take)[:2])
    cube = replace(
        cube,
        tiers=np.array(["rollout", "rollout"]),
        no_double=np.array([0.5, 0.9]),
        double_take=np.array([0.53, 1.2]),
        no_double_se=np.array([0.01, 0.06]),
        double_take_se=np.array([0.04, 0.05]),
        difference_se=np.array([0.02, 0.3]),
    )
    rows = {(row["question"], row["tier"]): row for row in noise_table(replace(whole, checker=checker, cube=cube))}
    row = rows["checker play", "rollout"]
    assert (row["n"], row["with SE"], row["median SE"], row["median SE of difference"]) == (2, 2, 0.01, 0.01)
    assert (row["within 1 SE"], row["within 2 SE"]) == (0.5, 1.0)
    assert row["charged PR"] == pytest.approx(500 * two_way_charge(np.array([0.005, 0.015]), np.full(2, 0.01)).mean(), rel=0.1)
    assert rows["checker play", "3P"] == {"question": "checker play", "tier": "3P", "n": 1, "with SE": 0}
    row = rows["double", "rollout"]  # the second is a pass: the value of waiting alone counts
    assert row["median SE of difference"] == pytest.approx((0.02 + 0.06) / 2)
    assert (row["within 1 SE"], row["within 2 SE"]) == (0.0, 1.0)
    assert row["charged PR"] == pytest.approx(500 * two_way_charge(np.array([0.03, 0.1]), np.array([0.02, 0.06])).mean())
    row = rows["take", "rollout"]
    assert row["charged PR"] == pytest.approx(500 * two_way_charge(np.array([0.47, 0.2]), np.array([0.04, 0.05])).mean())

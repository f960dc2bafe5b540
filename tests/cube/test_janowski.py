"""Janowski's model against published figures, exact last-roll positions and its own bounds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.cube import X_CONTACT, X_RACE, cl2cf_money, compute_wl, cube_action, cube_equities, cube_index, jacoby_active, money_live
from raccoon.cube.janowski import probs6_to_cumulative5
from raccoon.cube.state import CENTERED, OPPONENT, PLAYER, CubeState, flip_label, owner_codes
from raccoon.env.board import START
from raccoon.env.position_ids import from_position_id

GOLDEN = Path(__file__).parents[1] / "golden"
OWNERS = (PLAYER, CENTERED, OPPONENT)
PLAIN = np.array([0.5, 0, 0, 0, 0])
MIXED = np.array([0.55, 0.20, 0.02, 0.10, 0.01])
STRONG = np.array([0.70, 0.20, 0.01, 0.08, 0.0])


def random_probs(count: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    six = rng.dirichlet([2, 1, 0.3, 2, 1, 0.3], count)
    return probs6_to_cumulative5(six)


@pytest.mark.parametrize(
    ("probs", "expected"),
    [
        (PLAIN, {PLAYER: 0.17, CENTERED: 0.0, OPPONENT: -0.17}),
        (MIXED, {PLAYER: 0.3970, CENTERED: 0.2803, OPPONENT: 0.0570}),
        (STRONG, {PLAYER: 0.7680, CENTERED: 0.7408, OPPONENT: 0.4280}),
    ],
)
def test_published_equities(probs: np.ndarray, expected: dict[str, float]) -> None:
    for owner, equity in expected.items():
        assert cl2cf_money(probs, owner, X_CONTACT) == pytest.approx(equity, abs=5e-5)


def test_published_equities_under_jacoby() -> None:
    assert cl2cf_money(MIXED, CENTERED, X_CONTACT, jacoby=True) == pytest.approx(0.2451, abs=5e-5)
    assert cl2cf_money(STRONG, CENTERED, X_CONTACT, jacoby=True) == pytest.approx(0.6992, abs=5e-5)
    assert cl2cf_money(STRONG, PLAYER, X_CONTACT, jacoby=True) == cl2cf_money(STRONG, PLAYER, X_CONTACT)


def test_the_centred_form_is_interpolated_and_not_the_closed_one() -> None:
    probs = np.array([0.7, 0.28, 0.0, 0.06, 0.0])  # W 1.4, L 1.2
    assert compute_wl(probs)[0] == pytest.approx(1.4)
    assert compute_wl(probs)[1] == pytest.approx(1.2)
    x, p, w, lo = X_CONTACT, 0.7, 1.4, 1.2
    closed = 4 / (4 - x) * (p * (w + lo + 0.5 * x) - lo - 0.25 * x)
    assert closed == pytest.approx(0.8289, abs=5e-5)
    assert cl2cf_money(probs, CENTERED, x) == pytest.approx(0.8512, abs=5e-5)
    assert cl2cf_money(probs, CENTERED, x, jacoby=True) == pytest.approx(0.7808, abs=5e-5)


def take_point(x: float, w: float, lo: float) -> float:
    """The receiver's least winning chance, by bisection of ``dt = dp``."""
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        probs = np.array([p, p * (w - 1), 0, (1 - p) * (lo - 1), 0])
        low, high = (p, high) if cube_equities(probs, PLAYER, x).dt < 1 else (low, p)
    return 1 - low


def test_janowskis_own_take_points() -> None:
    # W and L of the doubler here are the receiver's L and W
    assert take_point(0.0, 1.292, 1.114) == pytest.approx((1.292 - 0.5) / (1.292 + 1.114), abs=1e-6)
    assert take_point(0.0, 1.292, 1.114) == pytest.approx(0.3292, abs=5e-5)
    assert take_point(1.0, 1.292, 1.114) == pytest.approx(0.2725, abs=5e-5)
    assert take_point(1.0, 1.0, 1.0) == pytest.approx(0.20, abs=1e-9)
    assert take_point(0.0, 1.0, 1.0) == pytest.approx(0.25, abs=1e-9)


def test_janowskis_own_doubling_points() -> None:
    x = 2 / 3
    p = np.linspace(0, 1, 300_001)
    probs = np.zeros((len(p), 5))
    probs[:, 0] = p
    cubeless = 2 * p - 1
    owned, centred = cube_equities(probs, PLAYER, x), cube_equities(probs, CENTERED, x)
    assert cubeless[np.argmax(owned.dt >= owned.nd)] == pytest.approx(0.429, abs=1e-3)  # redouble
    assert cubeless[np.argmax(owned.dt >= 1)] == pytest.approx(0.571, abs=1e-3)  # cash
    # the receiver beavers what it would rather own at twice the stake: dt below zero
    assert cubeless[np.argmax(centred.dt >= 0)] == pytest.approx(0.143, abs=1e-3)


def test_wins_and_losses_are_worth_a_point_at_least() -> None:
    # a corrected mean can be slightly negative beside a tiny winning chance
    w, lo = compute_wl(np.array([0.0006, -0.003774, 0.0, 0.3, 0.0]))
    assert w == 1.0
    assert lo == pytest.approx(1 + 0.3 / 0.9994)
    assert pytest.approx(-5.29) == 1 + -0.003774 / 0.0006
    assert compute_wl(np.array([0.0, 0, 0, 0, 0]))[0] == 1.0
    assert compute_wl(np.array([1.0, 0.5, 0, 0, 0])) == (1.5, 1.0)


def test_bounds_and_order_on_random_vectors() -> None:
    probs = random_probs(100_000)
    w, lo = compute_wl(probs)
    x = np.random.default_rng(4).uniform(0, 1, len(probs))
    found = {owner: cl2cf_money(probs, owner, x) for owner in OWNERS}
    for equity in found.values():
        assert (equity <= w + 1e-12).all()
        assert (equity >= -lo - 1e-12).all()
    assert (found[PLAYER] >= found[CENTERED] - 1e-12).all()
    assert (found[CENTERED] >= found[OPPONENT] - 1e-12).all()
    assert (np.abs(cl2cf_money(probs, CENTERED, x, jacoby=True)) <= 1 + 1e-12).all()


def test_the_other_side_sees_minus_the_equity_and_the_other_owner() -> None:
    probs = random_probs(10_000)
    win, wg, wbg, lg, lbg = probs.T
    other = np.stack([1 - win, lg, lbg, wg, wbg], axis=1)
    for owner in OWNERS:
        for jacoby in (False, True):
            mine = cl2cf_money(probs, owner, X_CONTACT, jacoby_active(owner, jacoby))
            theirs = cl2cf_money(other, flip_label(owner), X_CONTACT, jacoby_active(flip_label(owner), jacoby))
            np.testing.assert_allclose(mine, -theirs, atol=1e-12)


def test_a_dead_cube_is_the_cubeless_equity() -> None:
    probs = random_probs(1000)
    win, wg, wbg, lg, lbg = probs.T
    for owner in OWNERS:
        np.testing.assert_allclose(cl2cf_money(probs, owner, 0.0), 2 * win - 1 + wg + wbg - lg - lbg, atol=1e-12)


def test_finished_games_are_exact() -> None:
    for size, row in ((1, [1, 0, 0, 0, 0]), (2, [1, 1, 0, 0, 0]), (3, [1, 1, 1, 0, 0])):
        for owner in OWNERS:
            assert cl2cf_money(np.array(row, float), owner, X_CONTACT) == pytest.approx(size)
        assert cl2cf_money(np.array(row, float), CENTERED, X_CONTACT, jacoby=True) == pytest.approx(1)


def test_a_live_cube_passes_through_its_pinned_points() -> None:
    w, lo = 1.4, 1.2
    take, cash = (lo - 0.5) / (w + lo + 0.5), (lo + 1) / (w + lo + 0.5)
    assert money_live([0, take, cash, 1], w, lo, CENTERED) == pytest.approx([-lo, -1, 1, w])
    assert money_live([0, cash, 1], w, lo, PLAYER) == pytest.approx([-lo, 1, w])
    assert money_live([0, take, 1], w, lo, OPPONENT) == pytest.approx([-lo, -1, w])
    assert money_live([0, take, cash, 1], w, lo, CENTERED, jacoby=True) == pytest.approx([-1, -1, 1, 1])


def test_last_roll_positions_are_exact() -> None:
    """With one roll to go the opponent never doubles again, so the cube is dead for the taker: 2 x cubeless is the truth."""
    for case in json.loads((GOLDEN / "cube_exact.json").read_text()):
        if case["name"] not in ("5,2 v ace", "6 v ace"):
            continue
        probs = np.array([case["p"], 0, 0, 0, 0])
        equities = cube_equities(probs, CENTERED, 0.0)
        assert equities.nd == pytest.approx(case["nd_centred"], abs=1e-3)
        assert equities.dt == pytest.approx(case["dt"], abs=1e-3)
        assert from_position_id(case["id"]).shape == (2, 25)


def test_actions() -> None:
    probs = np.array([[0.5, 0, 0, 0, 0], [0.75, 0, 0, 0, 0], [0.9, 0, 0, 0, 0], [0.9, 0.8, 0, 0, 0]])
    double, take = cube_action(probs, CENTERED, X_CONTACT)
    assert double.tolist() == [False, True, True, False]  # no, double, double and pass, too good
    assert take.tolist() == [True, True, False, False]
    assert not cube_action(probs, OPPONENT, X_CONTACT).double.any()


def test_index_and_jacoby() -> None:
    race = from_position_id("4HPwATDgc/ABMA")
    assert cube_index(START[None]).tolist() == [X_CONTACT]
    assert (race == START).all()
    over = np.zeros((1, 2, 25), np.int8)
    over[0, :, 2] = 5
    assert cube_index(over).tolist() == [X_RACE]
    assert jacoby_active(CENTERED, True) is True
    assert jacoby_active(PLAYER, True) is False
    assert jacoby_active(CENTERED, False) is False
    assert jacoby_active(np.array([0, 1, -1]), True).tolist() == [True, False, False]


def test_labels_and_seats() -> None:
    assert [flip_label(label) for label in OWNERS] == [OPPONENT, CENTERED, PLAYER]
    assert flip_label(1) == -1
    assert flip_label(np.array([1, 0, -1], np.int8)).tolist() == [-1, 0, 1]
    assert owner_codes(["player", "centered"]).tolist() == [1, 0]
    cube = CubeState()
    assert cube.label(0) == cube.label(1) == CENTERED
    turned = cube.doubled(1)
    assert turned == CubeState(2, 0)
    assert (turned.label(0), turned.label(1)) == (PLAYER, OPPONENT)
    assert (turned.may_double(0), turned.may_double(1)) == (True, False)
    assert not CubeState(1024, 0).may_double(0)
    with pytest.raises(RaccoonError, match="seat 1 may not double"):
        turned.doubled(1)


@pytest.mark.parametrize(("value", "owner"), [(3, 0), (0, None), (2048, 0), (2, None), (1, 0), (2, 2), (True, None)])
def test_impossible_cubes_are_refused(value: int, owner: int | None) -> None:
    with pytest.raises(RaccoonError, match="cube"):
        CubeState(value, owner)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cl2cf_money(PLAIN, "mine", 0.68),
        lambda: cl2cf_money(PLAIN, 2, 0.68),
        lambda: cl2cf_money(PLAIN, CENTERED, 1.5),
        lambda: cl2cf_money(PLAIN, CENTERED, np.nan),
        lambda: cl2cf_money(PLAIN[:4], CENTERED, 0.68),
    ],
)
def test_bad_input_is_refused(call) -> None:
    with pytest.raises(RaccoonError):
        call()

"""Janowski's model at match scores against GNU Backgammon, Open Sage, results worked out by hand, and its own bounds."""

from __future__ import annotations

import json
from pathlib import Path

import bgbot_cpp
import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes, RaccoonError
from raccoon.cube import cube_action, match_equity, match_equity_table
from raccoon.cube.janowski import X_CONTACT, X_RACE, CubeEquities, probs6_to_cumulative5
from raccoon.cube.model import Janowski, best_of
from raccoon.env.board import START

GOLDEN = Path(__file__).parents[1] / "golden" / "gnubg_match_cube.json"
SAGE = {CENTRED: bgbot_cpp.CubeOwner.CENTERED, OWNED: bgbot_cpp.CubeOwner.PLAYER, OPPONENT: bgbot_cpp.CubeOwner.OPPONENT}


def cubes(away: object, value: object = 1, owner: object = CENTRED, crawford: object = False) -> Cubes:
    scores = np.asarray(away, np.int16).reshape(-1, 2)
    given = ((value, np.int32), (owner, np.int8), (crawford, bool))
    values, owners, last = (np.broadcast_to(np.asarray(item, kind), len(scores)).copy() for item, kind in given)
    return Cubes(values, owners, CubeRules(), scores, last)


def plain(p: object) -> np.ndarray:
    """Gammonless ``probs5``."""
    chance = np.atleast_1d(np.asarray(p, float))
    return np.stack([chance, *[np.zeros_like(chance)] * 4], axis=1)


def random_rows(count: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray, Cubes]:
    """``(probs5, x, cubes)``: every kind of score, cube and owner, short scores more often."""
    rng = np.random.default_rng(seed)
    five = probs6_to_cumulative5(rng.dirichlet([2, 1, 0.3, 2, 1, 0.3], count))
    away = np.where(
        rng.random((count, 1)) < 0.6, rng.integers(1, 8, (count, 2)), rng.integers(1, match_equity_table.LONGEST + 1, (count, 2))
    )
    value = 2 ** rng.integers(0, 5, count)
    owner = np.where(value == 1, CENTRED, rng.choice([OWNED, OPPONENT], count))
    crawford = (away == 1).any(axis=1) & (value == 1) & (rng.random(count) < 0.5)
    return five, rng.choice([0.0, X_RACE, X_CONTACT, 1.0], count), cubes(away, value, owner, crawford)


def flipped(five: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - five[:, 0], five[:, 3], five[:, 4], five[:, 1], five[:, 2]])


def normalised(equity: np.ndarray, at: Cubes) -> np.ndarray:
    """On the scale where winning the present cube is 1 and losing it -1."""
    won, lost = match_equity.after(at.value, at), match_equity.after(-at.value, at)
    return 2 * (equity - lost) / (won - lost) - 1


def test_gnu_backgammons_own_cube_analysis() -> None:
    rows = json.loads(GOLDEN.read_text(encoding="utf-8"))["rows"]
    away, value, owner, five, nd, dt, dp = (np.array(column) for column in zip(*rows, strict=True))
    at = cubes(away, value, owner)
    found = match_equity.equities(five, X_CONTACT, at)
    # At 2 away each, GNU Backgammon takes an undoubled cube as dead.
    special = (away == 2).all(axis=1)
    assert 0 < special.sum() < len(rows) // 10
    np.testing.assert_allclose(normalised(found.nd, at)[~special], nd[~special], atol=1e-5)
    np.testing.assert_allclose(normalised(match_equity.no_double(five, 0.0, at), at)[special], nd[special], atol=1e-5)
    np.testing.assert_allclose(normalised(found.dt, at), dt, atol=1e-5)
    np.testing.assert_allclose(normalised(found.dp, at), dp, atol=1e-12)


def test_sages_cube_decisions() -> None:
    five, x, at = random_rows(3000)
    assert at.away is not None
    assert at.crawford is not None
    found = match_equity.equities(five, x, at)
    may = at.may_double()
    for i in range(len(five)):
        score = (*(int(away) for away in at.away[i]), bool(at.crawford[i]))
        value = int(at.value[i])
        sage = bgbot_cpp.cube_decision_1ply(five[i].tolist(), value, SAGE[int(at.owner[i])], float(x[i]), *score, False)
        for mine, theirs in ((found.nd[i], sage.equity_nd), (found.dt[i], sage.equity_dt), (found.dp[i], sage.equity_dp)):
            assert mine == pytest.approx(2 * bgbot_cpp.eq2mwc(theirs, *score[:2], value, score[2]) - 1, abs=2e-6)
        margin = min(abs(min(found.dt[i], found.dp[i]) - found.nd[i]), abs(found.dt[i] - found.dp[i]))
        if may[i] and margin > 1e-5:
            # by rule, Sage's trailer doubles in every post-Crawford game, be it too good for that
            assert sage.should_double == (min(found.dt[i], found.dp[i]) > found.nd[i] or score[1] == 1)
            assert sage.should_take == (found.dt[i] < found.dp[i])


def test_sages_cash_points() -> None:
    five, _, at = random_rows(2000, seed=6)
    assert at.away is not None
    mine, theirs = match_equity.cash_points(five, at)
    compared = 0
    for i, (win, gammon, backgammon, lost_gammon, lost_backgammon) in enumerate(five):
        if at.value[i] >= at.away[i].max():
            continue  # dead to both: Sage does not ask
        shares = ((gammon - backgammon) / win, backgammon / win)
        lost = ((lost_gammon - lost_backgammon) / (1 - win), lost_backgammon / (1 - win))
        sage = bgbot_cpp.match_live_cash_points(int(at.away[i, 0]), int(at.away[i, 1]), int(at.value[i]), False, *shares, *lost)
        assert (mine[i], theirs[i]) == pytest.approx(sage, abs=1e-4)
        compared += 1
    assert compared > 1000


def test_double_match_point_is_the_winning_chance_alone() -> None:
    five, x, _ = random_rows(500)
    for owner in (CENTRED, OWNED, OPPONENT):
        value = 1 if owner == CENTRED else 2
        nd = match_equity.no_double(five, x, cubes(np.ones((500, 2)), value, owner))
        np.testing.assert_allclose(nd, 2 * five[:, 0] - 1, atol=1e-12)


def test_crawford_games_have_a_dead_cube() -> None:
    five, _, _ = random_rows(200)
    at = cubes(np.tile([3, 1], (200, 1)), crawford=True)
    dead = match_equity.no_double(five, 0.0, at)
    np.testing.assert_array_equal(match_equity.no_double(five, 1.0, at), dead)
    # 3 away: a plain win leads to 2 away, a gammon wins 2 points, a backgammon the match
    chance = five[:, 0] - five[:, 1], five[:, 1] - five[:, 2], five[:, 2]
    expected = chance[0] * match_equity_table.equity([2, 1], True) + chance[1] * 0.5 + chance[2]
    np.testing.assert_allclose(dead, 2 * expected - 1, atol=1e-12)
    assert not at.may_double().any()


def test_two_away_each_gammonless() -> None:
    at = cubes([2, 2])
    behind = match_equity_table.equity([2, 1])
    mine, theirs = match_equity.cash_points(plain(0.5), at)
    # a taken double decides the match: the take point is the chance of the side 2 away against 1 away
    assert (1 - mine[0], 1 - theirs[0]) == pytest.approx((behind, behind))
    assert behind == 0.32264
    # and with a live cube, doubled by either side while it is a take, the match hangs on this game
    p = np.linspace(behind, 1 - behind, 21)
    nd, dt, _ = match_equity.equities(plain(p), 1.0, cubes(np.full((21, 2), 2)))
    np.testing.assert_allclose(nd, 2 * p - 1, atol=1e-12)
    np.testing.assert_allclose(dt, 2 * p - 1, atol=1e-12)


def test_last_cubes() -> None:
    # Post-Crawford at 2 away the trailer doubles at once: passing costs nothing that the point is not worth.
    mine, theirs = match_equity.cash_points(plain(0.4), cubes([2, 1]))
    assert (mine[0], theirs[0]) == (0.5, 1.0)
    nd, dt, dp = match_equity.equities(plain(0.4), X_CONTACT, cubes([2, 1]))
    assert (dt[0], dp[0]) == pytest.approx((-0.2, 0.0))
    assert dt[0] > nd[0]
    # At 3 away a pass leaves 2 away (0.48803) and a double won leaves 1 away each.
    mine, _ = match_equity.cash_points(plain(0.4), cubes([3, 1]))
    assert mine[0] == pytest.approx(0.48803 / 0.5)
    # A cube that wins the match as it stands is dead to who leads, and the other side turns it for nothing.
    mine, theirs = match_equity.cash_points(plain(0.4), cubes([2, 4], 2, OPPONENT))
    assert mine[0] == 1.0
    assert theirs[0] == pytest.approx(float(match_equity_table.equity([2, 2])))


@pytest.mark.parametrize("x", [X_RACE, X_CONTACT, 1.0])
def test_a_cube_of_use_to_nobody_is_dead(x: float) -> None:
    five, _, _ = random_rows(300)
    rng = np.random.default_rng(1)
    away = rng.integers(1, 5, (300, 2))
    at = cubes(away, 4, rng.choice([OWNED, OPPONENT], 300))
    np.testing.assert_allclose(match_equity.no_double(five, x, at), 2 * five[:, 0] - 1, atol=1e-12)


def test_points_become_match_equity() -> None:
    at = cubes([[5, 3], [5, 3], [2, 1], [2, 1], [2, 1], [3, 3]], crawford=[False, False, True, False, True, False])
    found = (match_equity.after(np.array([2.0, -2.0, 1.0, 1.0, -1.0, 8.0]), at) + 1) / 2
    wanted = [match_equity_table.equity([3, 3]), match_equity_table.equity([5, 1]), 0.5, 0.5, 0.0, 1.0]
    np.testing.assert_allclose(found, np.array(wanted, float), atol=1e-12)
    # 3 away, 1 point won: post-Crawford at 2 away, not the Crawford game there
    np.testing.assert_allclose(match_equity.after(np.ones(1), cubes([3, 1], crawford=True)), 2 * 0.48803 - 1, atol=1e-12)


def test_changing_sides_negates_the_equity_and_flips_the_cube() -> None:
    five, x, at = random_rows(20_000)
    np.testing.assert_allclose(match_equity.no_double(flipped(five), x, at.flipped()), -match_equity.no_double(five, x, at), atol=1e-12)
    np.testing.assert_allclose(match_equity.after(-at.value, at.flipped()), -match_equity.after(at.value, at), atol=1e-12)


def by_owner(five: np.ndarray, at: Cubes, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert at.away is not None
    owned, centred, theirs = (match_equity.no_double(five, x, cubes(at.away, at.value, owner)) for owner in (OWNED, CENTRED, OPPONENT))
    return owned, centred, theirs


def test_bounds_on_random_chances() -> None:
    five, _, at = random_rows(50_000)
    low, high = match_equity.after(-3 * at.value, at), match_equity.after(3 * at.value, at)
    for x in (0.0, X_CONTACT, 1.0):
        for equity in by_owner(five, at, x):
            assert (equity >= low - 1e-12).all()
            assert (equity <= high + 1e-12).all()
    mine, theirs = match_equity.cash_points(five, at)
    assert (np.minimum(mine, theirs) >= 0).all()
    assert (np.maximum(mine, theirs) <= 1 + 1e-12).all()
    assert (1 - theirs <= mine + 1e-12).all()


def test_owning_the_cube_is_best_and_facing_it_is_worst_without_gammons() -> None:
    five, _, at = random_rows(50_000)
    for x in (X_RACE, X_CONTACT, 1.0):
        owned, centred, theirs = by_owner(plain(five[:, 0]), at, x)
        assert (owned >= centred - 1e-12).all()
        assert (centred >= theirs - 1e-12).all()
    assert (owned > theirs + 1e-3).mean() > 0.5


def test_with_gammons_the_order_breaks_only_where_the_other_side_should_not_cash() -> None:
    five, _, at = random_rows(50_000)
    owned, centred, _ = by_owner(five, at, 1.0)
    broken = owned < centred - 1e-12
    assert 0 < broken.mean() < 0.02
    # At the other side's cash point playing on (with the cube out of its reach) hurts more than a pass there.
    p = 1 - match_equity.cash_points(five, at)[1]
    scale = np.stack([p / five[:, 0]] * 3 + [(1 - p) / (1 - five[:, 0])] * 2, axis=1)
    there = by_owner(five * scale, at, 1.0)[0]
    np.testing.assert_array_less(there[broken], match_equity.after(-at.value, at)[broken])


def test_far_from_the_end_clear_decisions_are_those_of_money() -> None:
    rng = np.random.default_rng(9)
    five = probs6_to_cumulative5(rng.dirichlet([6, 1.5, 0.1, 4, 1, 0.1], 20_000))
    at = cubes(np.full((20_000, 2), match_equity_table.LONGEST))
    nd, dt, dp = (normalised(equity, at) for equity in match_equity.equities(five, X_CONTACT, at))
    money = cube_action(five, CENTRED, X_CONTACT)
    clear = (np.abs(np.minimum(dt, dp) - nd) > 0.1) & (np.abs(dt - dp) > 0.1)
    assert clear.sum() > 5000
    np.testing.assert_array_equal((np.minimum(dt, dp) > nd)[clear], money.double[clear])
    np.testing.assert_array_equal((dt < dp)[clear], money.take[clear])


def test_the_players_model_uses_it() -> None:
    five, _, at = random_rows(64)
    win, gammon, backgammon, lost_gammon, lost_backgammon = five.T
    lost = 1 - win - lost_gammon, lost_gammon - lost_backgammon, lost_backgammon
    six = np.stack([win - gammon, gammon - backgammon, backgammon, *lost], axis=1)
    boards, model = np.repeat(START[None], 64, axis=0), Janowski()
    expected = match_equity.equities(five, X_CONTACT, at)
    for found, wanted in zip(model.equities(six, boards, at), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(model.optimal(six, boards, at), best_of(CubeEquities(*expected), at.may_double()), atol=1e-12)
    np.testing.assert_array_equal(model.finished(np.full(64, -2.0), at), match_equity.after(-2 * at.value, at))


def test_refusals() -> None:
    with pytest.raises(RaccoonError, match=r"cubes\.away"):
        match_equity.after(np.ones(1), Cubes.centred(1, CubeRules()))
    with pytest.raises(RaccoonError, match="match is over"):
        match_equity.no_double(plain(0.5), 0.5, cubes([0, 3]))
    with pytest.raises(RaccoonError, match=r"evaluator\.match_length"):
        match_equity.no_double(plain(0.5), 0.5, cubes([26, 3]))
    with pytest.raises(RaccoonError, match="probs5"):
        match_equity.no_double(np.zeros(5), 0.5, cubes([4, 3]))

"""Winning chances at which cube decisions change, against the paper, closed forms and the decisions themselves."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes
from raccoon.cube.decision_points import decision_points, gammon_values
from raccoon.cube.match_equity_table import table
from raccoon.cube.model import Janowski
from raccoon.env.board import START

PLAIN = np.array([0.6, 0.0, 0.0, 0.4, 0.0, 0.0])
RULES = CubeRules()


def cube(owner: int = CENTRED, value: int = 1, rules: CubeRules = RULES, away: tuple[int, int] | None = None) -> Cubes:
    score = (None, None) if away is None else (np.array([away], np.int16), np.array([False]))
    return Cubes(np.array([value], np.int32), np.array([owner], np.int8), rules, *score)


def points(x: float, cubes: Cubes, probs6: np.ndarray = PLAIN) -> dict[str, float | None]:
    found = decision_points(Janowski(x, x), probs6, START, cubes)
    assert found is not None
    return found


def test_gammonless_points_are_those_of_the_paper() -> None:
    """Janowski's table: x = 2/3, in cubeless equity: beaver -.143, redouble .429, cash .571."""
    found = points(2 / 3, cube(OWNED, 2, CubeRules(beavers=True)))
    equities = {name: 2 * chance - 1 for name, chance in found.items() if chance is not None}
    assert -equities["beaver"] == pytest.approx(-1 / 7, abs=1e-4)  # to the side that beavers
    assert equities["double"] == pytest.approx(3 / 7, abs=1e-4)
    assert equities["cash"] == pytest.approx(4 / 7, abs=1e-4)
    assert found["too_good"] is None  # no gammons
    assert found["take"] == pytest.approx(1 - 11 / 14, abs=1e-4)


@pytest.mark.parametrize(("x", "take"), [(0.0, 0.3292), (1.0, 0.2725)])
def test_take_points_with_gammons_are_those_of_the_paper(x: float, take: float) -> None:
    """Janowski's example: the taker wins 1.114 points a game won and loses 1.292 a game lost."""
    shares = np.array([0.708, 0.292, 0.0, 0.886, 0.114, 0.0])
    found = points(x, cube(), np.concatenate([0.7 * shares[:3], 0.3 * shares[3:]]))
    assert found["take"] == pytest.approx(take, abs=1e-4)


def test_a_dead_centred_cube_is_turned_at_one_half_and_passed_at_three_quarters() -> None:
    found = points(0.0, cube())
    assert [found[name] for name in ("double", "cash", "too_good", "beaver")] == pytest.approx([0.5, 0.75, None, None], abs=1e-4)


@pytest.mark.parametrize("away", [None, (4, 2), (2, 4), (5, 5)])
@pytest.mark.parametrize("owner", [CENTRED, OWNED])
def test_decisions_change_at_the_points_and_only_there(away: tuple[int, int] | None, owner: int) -> None:
    shares = np.array([0.6, 0.37, 0.03, 0.85, 0.15, 0.0])
    cubes = cube(owner, 1 if owner == CENTRED else 2, away=away)
    if not cubes.may_double()[0]:
        assert decision_points(Janowski(), PLAIN, START, cubes) is None
        return
    found = points(0.68, cubes, np.concatenate([0.5 * shares[:3], 0.5 * shares[3:]]))
    p = np.linspace(0.002, 0.998, 499)
    chances = np.concatenate([p[:, None] * shares[:3], (1 - p)[:, None] * shares[3:]], axis=1)
    nd, dt, dp = Janowski().equities(chances, np.repeat(START[None], len(p), axis=0), cubes.take(np.zeros(len(p), int)))
    for name, decision in (("double", np.minimum(dt, dp) > nd), ("cash", dt > dp), ("too_good", nd > dp)):
        point = found[name]
        first = None if not decision.any() else p[np.argmax(decision)]
        assert (point is None) == (first is None)
        if point is not None and first is not None:
            assert first - 0.002 - 1e-6 <= point <= first + 1e-6, name


def test_nobody_doubles_with_the_other_sides_cube_and_exact_last_rolls_have_no_points() -> None:
    assert decision_points(Janowski(), PLAIN, START, cube(OPPONENT, 2)) is None
    last = np.zeros((2, 25), np.int8)
    last[:, 0] = 2
    assert decision_points(Janowski(), PLAIN, last, cube()) is None


def test_gammon_values() -> None:
    assert set(gammon_values(Janowski(), cube()).values()) == {0.5}
    jacoby = gammon_values(Janowski(), cube(rules=CubeRules(jacoby=True)))
    assert set(jacoby.values()) == {0.0}
    assert set(gammon_values(Janowski(), cube(OWNED, 2, CubeRules(jacoby=True))).values()) == {0.5}
    found = gammon_values(Janowski(), cube(away=(2, 4)))
    chances = table()[0]
    unit = chances[1, 4] - chances[2, 3]
    assert found["gammon"] == pytest.approx((1 - chances[1, 4]) / unit)
    assert found["backgammon"] == 0.0
    assert found["lost_gammon"] == pytest.approx((chances[2, 3] - chances[2, 2]) / unit)

"""Cubes: the end of what 32 bits hold, the Jacoby rule, the names of owners."""

from __future__ import annotations

import numpy as np

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes
from raccoon.cube.match_equity import equities
from raccoon.cube.state import owner_codes, owner_label
from raccoon.cube_rules import OWNER_NAMES

HIGH = np.array([1 << 27, 1 << 28, 1 << 29, 1 << 30], np.int32)


def test_no_double_beyond_the_cap_however_high_the_cube() -> None:
    cubes = Cubes(HIGH, np.full(4, CENTRED, np.int8), CubeRules(beavers=True, cap=1 << 30))
    assert cubes.may_double().tolist() == [True, True, True, False]
    assert cubes.may_beaver().tolist() == [True, True, False, False]


def test_a_cube_far_beyond_the_match_is_as_dead_as_one_just_beyond() -> None:
    five = np.tile([0.6, 0.2, 0.01, 0.1, 0.01], (2, 1))
    away, crawford = np.full((2, 2), 7, np.int16), np.zeros(2, bool)
    cubes = Cubes(np.array([8, 1 << 30], np.int32), np.zeros(2, np.int8), CubeRules(), away, crawford)
    for column in equities(five, 0.68, cubes):
        assert column[0] == column[1]


def test_the_jacoby_rule_is_in_force_while_the_cube_of_a_money_game_is_centred() -> None:
    owners, values = np.array([CENTRED, OWNED, OPPONENT], np.int8), np.array([1, 2, 2], np.int32)
    away, crawford = np.full((3, 2), 7, np.int16), np.zeros(3, bool)
    rules, none = CubeRules(jacoby=True), CubeRules()
    assert Cubes(values, owners, rules).jacoby().tolist() == [True, False, False]
    assert Cubes(values, owners, rules).game_points(np.array([-3, -3, 2])).tolist() == [-1, -3, 2]
    for cubes in (Cubes(values, owners, none), Cubes(values, owners), Cubes(values, owners, rules, away, crawford)):
        assert not cubes.jacoby().any()
        assert cubes.game_points(np.array([-3, 2, 3])).tolist() == [-3, 2, 3]


def test_owners_have_one_name_each() -> None:
    assert OWNER_NAMES == {CENTRED: "centered", OWNED: "player", OPPONENT: "opponent"}
    assert [owner_label(code) for code in OWNER_NAMES] == list(OWNER_NAMES.values())
    assert owner_codes(np.array(list(OWNER_NAMES.values()))).tolist() == list(OWNER_NAMES)

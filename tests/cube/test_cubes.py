"""Cubes at the end of what 32 bits hold."""

from __future__ import annotations

import numpy as np

from raccoon.contracts import CENTRED, CubeRules, Cubes
from raccoon.cube.match_equity import equities

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

"""Which places of the cube a decision turns on: in money play per unit of it, at a score at its value and doubled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes
from raccoon.cube.model import Janowski
from raccoon.cube.places import places_of

CUBES = Cubes(np.array([8, 2], np.int32), np.array([OWNED, CENTRED], np.int8), CubeRules(jacoby=True))


def test_money_is_priced_by_a_cube_of_1_whatever_it_shows() -> None:
    places = places_of(Janowski(), CUBES)
    one = places.cube  # type: ignore[attr-defined]
    assert (one.value.tolist(), one.owner.tolist(), one.rules) == ([1], [CENTRED], CUBES.rules)
    points = np.array([1.0, -3.0])
    by_owner = dict(zip((CENTRED, OWNED, OPPONENT), places.finished(points).T.tolist(), strict=True))
    assert by_owner == {CENTRED: [1.0, -1.0], OWNED: [1.0, -3.0], OPPONENT: [1.0, -3.0]}  # gammons count once the cube was turned


def test_at_a_score_the_cube_stays_or_goes_doubled_to_the_other_side() -> None:
    match = replace(CUBES, away=np.array([[5, 7], [5, 7]], np.int32), rules=None)
    assert places_of(Janowski(), match).places == ((0, CENTRED), (0, OWNED), (0, OPPONENT), (1, OPPONENT))  # type: ignore[attr-defined]
    few = places_of(Janowski(), match, [OWNED])
    assert few.places == ((0, OWNED), (1, OPPONENT))  # type: ignore[attr-defined]
    kept, doubled = (few.at(*place) for place in few.places)  # type: ignore[attr-defined]
    assert (kept.value.tolist(), kept.owner.tolist()) == ([8, 2], [OWNED, OWNED])
    assert (doubled.value.tolist(), doubled.owner.tolist()) == ([16, 4], [OPPONENT, OPPONENT])


@pytest.mark.parametrize("jacoby", [False, True])
def test_every_place_in_money_play_knows_the_rule(jacoby: bool) -> None:
    places = places_of(Janowski(), replace(CUBES, rules=CubeRules(jacoby=jacoby)))
    assert places.finished(np.array([3.0])).tolist() == [[1.0 if jacoby else 3.0, 3.0, 3.0]]

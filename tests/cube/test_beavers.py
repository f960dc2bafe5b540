"""Who may beaver, and that every place that asks gives the same answer."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import CubeRules, Cubes
from raccoon.cube.model import Janowski, with_beavers
from raccoon.engine.base import EngineBase
from raccoon.env.board import START
from raccoon.env.formats.xgid import Position
from raccoon.play import EnginePlayer
from raccoon.search import StaticSearch
from raccoon.search.analysis.answers import analyse
from raccoon.search.analysis.questions import Question

ON = CubeRules(beavers=True, cap=4)


def cubes(value: int, rules: CubeRules | None = ON, away: list[int] | None = None) -> Cubes:
    return Cubes(np.array([value], np.int32), np.zeros(1, np.int8), rules, None if away is None else np.array([away], np.int16))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (cubes(1), True),
        (cubes(2), False),  # two turns would pass the cap
        (cubes(1, CubeRules()), False),
        (cubes(1, None), False),
        (cubes(1, away=[5, 5]), False),  # no beavers in matches
    ],
)
def test_who_may_beaver(asked, expected):
    assert asked.may_beaver().tolist() == [expected]
    assert with_beavers(np.array([-0.5]), asked).tolist() == [-1.0 if expected else -0.5]
    assert with_beavers(np.array([0.5]), asked).tolist() == [0.5]


class Losing(EngineBase):
    """The side on roll wins one game in twenty."""

    def _probs6(self, live):
        return np.tile([0.05, 0.0, 0.0, 0.95, 0.0, 0.0], (len(live), 1))


@pytest.mark.parametrize(("value", "answer"), [(1, "beaver"), (2, "take")])
def test_the_analysis_and_the_player_agree(value, answer):
    engine, asked = Losing("losing"), cubes(value)
    record = next(
        iter(analyse([Question(Position(START, cube_value=value, cube_limit=2, beavers=True))], engine, StaticSearch(), Janowski()))
    )
    assert record["cube_action"]["action"] == f"no double, {answer}"
    assert EnginePlayer(engine).beaver(START[None], asked).tolist() == [answer == "beaver"]

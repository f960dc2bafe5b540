"""Input checks, finished games and the conversions that all engines share."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase
from raccoon.engine.network.batched import BatchedEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.encoder import Encoder
from raccoon.env.position_ids import from_position_id

CASES = json.loads((Path(__file__).parents[1] / "golden" / "terminal.json").read_text())


class Flat(EngineBase):
    """Everywhere the same outcome distribution."""

    def _probs6(self, live: np.ndarray) -> np.ndarray:
        return np.tile([0.40, 0.15, 0.05, 0.30, 0.08, 0.02], (len(live), 1))


def test_value_is_the_expectation_of_the_outcomes_on_the_value_scale() -> None:
    engine = Flat("flat")
    assert engine.value(START[None])[0] == pytest.approx(0.33 / 3)
    assert engine.points(START[None])[0] == pytest.approx(0.33)
    assert engine.evaluations == 2


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_finished_games_are_exact_and_cost_nothing(case: dict) -> None:
    boards = np.stack([START, from_position_id(case["id"])])
    points = case["points_for_side_on_roll"]
    engine = Flat("flat")
    assert engine.points(boards)[1] == points
    assert engine.value(boards)[1] == np.float32(points / 3)
    expected = np.zeros(6)
    expected[2 - points] = 1.0
    assert engine.probs6(boards)[1].tolist() == expected.tolist()
    assert engine.evaluations == 3


def _faulty() -> list[tuple[str, np.ndarray, str]]:
    sixteen, negative, shared, wide = START.copy(), START.copy(), START.copy(), START.astype(np.int64)
    sixteen[1, 0] += 1
    negative[0, [0, 5]] = -1, 6
    shared[1, [5, 0]] = 4, 1
    wide[1, 5] = 261  # 5 once its high byte is lost
    good = START.copy()
    return [
        ("sixteen", np.stack([good, sixteen]), "row 1"),
        ("negative", np.stack([good, negative]), "row 1"),
        ("shared point", np.stack([good, shared]), "row 1"),
        ("one board", good, "shape"),
        ("wrong width", np.zeros((1, 2, 24), np.int8), "shape"),
        ("floats", good[None].astype(float), "float64"),
        ("wide integers", wide[None], "261"),
    ]


@pytest.mark.parametrize(("boards", "told"), [fault[1:] for fault in _faulty()], ids=[fault[0] for fault in _faulty()])
@pytest.mark.parametrize("method", ["value", "probs6", "points"])
def test_illegal_boards_are_refused(method: str, boards: np.ndarray, told: str) -> None:
    with pytest.raises(RaccoonError, match=told):
        getattr(Flat("flat"), method)(boards)


def test_no_boards_give_no_values() -> None:
    engine = Flat("flat")
    assert engine.value(START[None][:0]).shape == (0,)
    assert engine.probs6(START[None][:0]).shape == (0, 6)
    assert engine.evaluations == 0


def test_engines_without_probabilities_say_so() -> None:
    with pytest.raises(RaccoonError, match="random7 knows no outcome probabilities"):
        RandomEngine(7).probs6(START[None])


def test_an_engine_that_runs_a_network_defines_its_forward_passes() -> None:
    class Half(BatchedEngine):
        def _forward(self, boards: Boards) -> NDArray[np.float32]:
            return np.zeros((len(boards), 1), np.float32)

    with pytest.raises(TypeError, match="_policy"):
        Half("half", Encoder(), False, False, 32, 0)  # pyright: ignore[reportAbstractUsage]

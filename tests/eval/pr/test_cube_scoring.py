"""The losses of cube decisions by hand, which questions count, and the order of the three cubes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes
from raccoon.cube.model import Janowski
from raccoon.engine.outcomes import six_from_five
from raccoon.env.board import START
from raccoon.eval.benchmark.decisions import CubeDecisions
from raccoon.eval.benchmark.loader import load
from raccoon.eval.pr.cube_scoring import CubeAnswers, coherent, counted, errors, score


def positions(rows: list[tuple[float, float]], owner: int = CENTRED, flags: tuple[bool, bool] = (True, True)) -> CubeDecisions:
    """Cube decisions at the start with the given ``(nd, dt)`` each, a game each."""
    n = len(rows)
    text = np.array(["x"] * n)
    nd, dt = np.array(rows, float).reshape(-1, 2).T
    cubes = Cubes(np.full(n, 1 if owner == CENTRED else 2, np.int32), np.full(n, owner, np.int8))
    boards, doubles, takes = np.repeat(START[None], n, axis=0), np.full(n, flags[0]), np.full(n, flags[1])
    numbers = np.arange(n)
    return CubeDecisions(
        np.array([f"k{i}" for i in range(n)]),
        numbers,
        numbers.astype(np.int32),
        text,
        text,
        boards,
        cubes,
        nd,
        dt,
        np.ones(n),
        np.tile([0.5, 0.1, 0.0, 0.1, 0.0], (n, 1)),
        doubles,
        takes,
        text,
    )


@pytest.mark.parametrize(
    ("nd", "dt", "doubled", "taken", "doubler", "receiver"),
    [
        (0.4, 0.6, True, True, 0.0, 0.0),
        (0.4, 0.6, False, True, 0.2, 0.0),
        (0.4, 0.6, True, False, 0.0, 0.4),  # the pass gives the doubler 1 for .6
        (0.8, 0.5, True, True, 0.3, 0.0),
        (0.8, 0.5, False, False, 0.0, 0.5),
        (0.9, 1.3, True, True, 0.0, 0.3),  # a take of a pass
        (0.9, 1.3, False, False, 0.1, 0.0),
        (1.2, 1.5, True, False, 0.2, 0.0),  # too good: the double gets 1 for 1.2
        (1.2, 1.5, False, True, 0.0, 0.5),
        (-0.2, -0.6, True, True, 0.4, 0.0),
    ],
)
def test_losses_by_hand(nd: float, dt: float, doubled: bool, taken: bool, doubler: float, receiver: float) -> None:
    scores = score("x", positions([(nd, dt)]), CubeAnswers(np.array([doubled]), np.array([taken])))
    np.testing.assert_allclose(scores.loss, [doubler, receiver], atol=1e-12)
    assert scores.receiver.tolist() == [False, True]
    kinds = {"wrong doubles": doubled and doubler, "missed doubles": not doubled and doubler}
    kinds |= {"wrong takes": taken and receiver, "wrong passes": not taken and receiver}
    rows = {row["error"]: row for row in errors(scores)}
    for kind, lost in kinds.items():
        assert (rows[kind]["errors"], rows[kind]["points"]) == (int(lost > 0), pytest.approx(float(lost)))
        assert rows[kind]["PR"] == pytest.approx(250 * lost)


def test_which_questions_count() -> None:
    for flags in ((True, False), (False, True), (False, False)):
        doubles, takes = counted(positions([(0.4, 0.6)] * 3, OWNED, flags))
        assert (doubles.all(), takes.all()) == flags
    assert not any(mask.any() for mask in counted(positions([(0.4, 0.6)], OPPONENT)))
    three = positions([(0.4, 0.6)] * 3, flags=(True, False))
    assert len(score("x", three, CubeAnswers(np.ones(3, bool), np.zeros(3, bool))).loss) == 3


def test_coherence_sees_a_wrong_order() -> None:
    class Mirrored(Janowski):
        def by_owner(self, probs6: Any, boards: Boards, jacoby: bool = False) -> Any:
            return super().by_owner(probs6, boards, jacoby)[:, [0, 2, 1]]

    cube = load().cube
    probs6 = six_from_five(cube.probs5)
    assert coherent(Janowski(), probs6, cube, CubeRules()).all()
    assert coherent(Mirrored(), probs6, cube, CubeRules()).mean() < 0.02  # a game that is all but won has no order
    # a dead cube is worth the same to both sides, but for the gammons that the rule takes from a centred one
    assert coherent(Janowski(0, 0), probs6, cube, CubeRules()).all()
    assert not coherent(Janowski(0, 0), probs6, cube, CubeRules(jacoby=True)).all()

"""What stands beside the cube model: equations 5 to 7 and the frequencies of questions, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes
from raccoon.cube.janowski import cl2cf_money
from raccoon.eval.benchmark.loader import load
from raccoon.eval.cube_fit.comparisons import cube_blind_table, equations_5_to_7, formulas_table, questions_table
from raccoon.eval.cube_fit.index import JanowskiOnReferences
from raccoon.eval.cube_fit.moves import best_shift, moves_table
from raccoon.eval.cube_fit.references import exact_evidence, references_of_benchmark
from raccoon.eval.cube_fit.tables import by_cube_value
from raccoon.eval.cube_fit.variants import PUBLISHED, SHIFTED, Decider, decisions_table, disorder

OWNERS = np.array([OWNED, CENTRED, OPPONENT], np.int8)


def test_equations_by_hand() -> None:
    """60% wins, a quarter of them gammons: W = 1.25; 40% losses, half of them gammons: L = 1.5; x = .68, W + L + x/2 = 3.09."""
    probs5 = np.tile([0.6, 0.15, 0.0, 0.2, 0.0], (3, 1))
    line = 0.6 * 3.09 - 1.5
    assert equations_5_to_7(probs5, OWNERS, 0.68) == pytest.approx([line, 4 / 3.32 * (line - 0.17), line - 0.34])
    assert equations_5_to_7(probs5, OWNERS, 0.0) == pytest.approx([0.15] * 3)  # a dead cube: the cubeless equity


def test_they_are_the_piecewise_form_without_gammons_and_between_the_points() -> None:
    """Without gammons and with a live cube both are 2.5 p - 1 for an owned cube up to the cash point, 80%, and so for the other places."""
    p = np.linspace(0.21, 0.79, 8)
    probs5 = np.stack([p, *[np.zeros(8)] * 4], axis=1)
    for owner in OWNERS:
        there = np.full(8, owner, np.int8)
        assert equations_5_to_7(probs5, there, 1.0) == pytest.approx(cl2cf_money(probs5, there, 1.0))


def test_only_the_equations_leave_the_bounds() -> None:
    rows = formulas_table(exact_evidence(3, None, 1, 0.25).references)
    assert [(row["cube"], row["formula"]) for row in rows[:2]] == [("owned", "piecewise"), ("owned", "equations 5 to 7")]
    assert [row["out of bounds"] for row in rows if row["formula"] == "piecewise"] == [0.0] * 3
    assert all(row["out of bounds"] > 0 for row in rows if row["formula"] != "piecewise")  # near the ends, where they pay more than a win


def test_an_index_for_each_cube_value_is_found() -> None:
    """References made by the model itself, at .3 where the cube is at 2 and at .8 where it is at 4."""
    exact = exact_evidence(3, None, 1, 0.25).references
    part = exact.take(exact.owner == OWNED)
    value = np.where(np.arange(len(part)) % 2, 2, 4).astype(np.int32)
    made = cl2cf_money(part.probs5, part.owner, np.where(value == 2, 0.3, 0.8))
    rows = by_cube_value(replace(part, equity=made, value=value), 1, 20)
    assert [(row["cube"], row["value"]) for row in rows] == [("owned", 2), ("owned", 4)]
    assert [row["best x"].value for row in rows] == pytest.approx([0.3, 0.8], abs=1e-6)
    assert by_cube_value(part, 1, 20) == []


def test_questions_are_counted() -> None:
    benchmark = load("embedded")
    found = questions_table(references_of_benchmark(benchmark), benchmark.cube)
    assert [row["times"] for row in found[1:]] == [285, 72]
    assert found[0]["for each take"] == found[0]["times"] / 72


def test_a_shift_turns_decisions_by_hand() -> None:
    """Without gammons at x = .68: with 70% of wins no double is .581 and double/take .596, with 77% double/take is .924. A shift s adds s
    to the first and 2 s to the others."""
    cube = load().cube.take(np.arange(2))
    probs5 = np.zeros((2, 5))
    probs5[:, 0] = 0.70, 0.77
    decider = Decider(replace(cube, probs5=probs5, cubes=Cubes.centred(2)), CubeRules())
    assert decider.answers(PUBLISHED).double.tolist() == [True, True]
    assert decider.answers(PUBLISHED._replace(shift=-0.014)).double.tolist() == [True, True]
    assert decider.answers(PUBLISHED._replace(shift=-0.015)).double.tolist() == [False, True]
    assert decider.answers(PUBLISHED._replace(shift=0.038)).take.tolist() == [True, True]
    assert decider.answers(PUBLISHED._replace(shift=0.039)).take.tolist() == [True, False]
    assert disorder(probs5, PUBLISHED._replace(shift=0.1)) == disorder(probs5, PUBLISHED) == (0.0, 0.0)


def test_the_shift_that_made_the_references_is_found() -> None:
    """References .06 above the model, for cube decisions and, with the option to double, for positions after a play."""
    cube = load().cube
    nd = cl2cf_money(cube.probs5, cube.cubes.owner, 0.68) + 0.06
    dt = 2 * (cl2cf_money(cube.probs5, np.full(len(cube), OPPONENT), 0.68) + 0.06)
    rows = {row["model"]: row for row in decisions_table(replace(cube, no_double=nd, double_take=dt), CubeRules(), 1, 200)}
    assert [float(text) for text in rows[SHIFTED]["shift"].split(" / ")] == pytest.approx([0.06] * 2, abs=0.0051)
    assert rows[SHIFTED]["better than published"].lo > 0
    assert rows[SHIFTED]["PR"].value < 0.1 * rows["published, .68"]["PR"].value
    references = references_of_benchmark(load(), load().checker.first_games(10))
    shifted = replace(references, equity=references.sign * JanowskiOnReferences(references).equity(0.68, 0.06))
    assert JanowskiOnReferences(shifted).residual(0.68, 0.06) == pytest.approx(0.0)
    held = shifted.owner == OPPONENT  # the side on roll may not double: what it gets beyond the model its opponent lacks
    assert JanowskiOnReferences(shifted).residual(0.68)[held] == pytest.approx(0.06)
    assert best_shift(shifted) == pytest.approx(0.06, abs=1e-4)
    moves = {row["model"]: row for row in moves_table(shifted, 1, 50)}
    assert moves[SHIFTED]["lost"].value == moves["published, .68"]["lost"].value == 0.0  # what all plays share changes no choice


def test_the_cube_blind_floor_by_hand() -> None:
    """Three decisions of two plays: the play that is best without a cube gives away .02, nothing, and of two equal ones the first .1."""
    source = load().checker
    two = source.take(np.flatnonzero(np.diff(source.offsets) == 2)[:3])
    checker = replace(
        two,
        cubeless=np.array([0.3, 0.2, 0.1, 0.4, 0.5, 0.5]),
        equity=np.array([0.30, 0.32, 0.0, 0.4, 0.6, 0.7]),
        plans=np.array(["priming", "priming", "racing"]),
        cubes=Cubes(np.array([1, 2, 2], np.int32), np.array([CENTRED, OWNED, OPPONENT], np.int8)),
    )
    rows = {(row["cube"], row["game plan"]): row for row in cube_blind_table(checker, 1, 50)}
    told = {where: (row["decisions"], round(row["PR"].value, 6), round(row["another play is better"], 6)) for where, row in rows.items()}
    assert told == {
        ("all", "all"): (3, 20.0, 0.666667),
        ("all", "priming"): (2, 5.0, 0.5),
        ("all", "racing"): (1, 50.0, 1.0),
        ("owned", "all"): (1, 0.0, 0.0),
        ("owned", "priming"): (1, 0.0, 0.0),
        ("centred", "all"): (1, 10.0, 1.0),
        ("centred", "priming"): (1, 10.0, 1.0),
        ("theirs", "all"): (1, 50.0, 1.0),
        ("theirs", "racing"): (1, 50.0, 1.0),
    }

"""What stands beside the cube model: equations 5 to 7 and the frequencies of questions, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED
from raccoon.cube.janowski import cl2cf_money
from raccoon.eval.benchmark.loader import load
from raccoon.eval.cube_fit.comparisons import equations_5_to_7, formulas_table, questions_table
from raccoon.eval.cube_fit.references import exact_evidence, references_of_benchmark
from raccoon.eval.cube_fit.tables import by_cube_value

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

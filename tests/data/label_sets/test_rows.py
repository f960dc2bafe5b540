"""The packed row: round trips, the stated error, labels that are none."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.rows import ROW, pack, unpack5, unpack6
from raccoon.data.label_sets.store import PositionStore
from raccoon.engine.outcomes import five_from_six
from raccoon.env.board import START

ONE = START[None]


def test_a_row_fits_in_32_bytes() -> None:
    assert ROW.itemsize <= 32


def test_boards_come_back(small: PositionStore) -> None:
    boards, probs5 = small.gather(np.arange(len(small)))
    rows = pack(boards, probs5, np.zeros(len(boards)), np.zeros(len(boards)), 0)
    again, _ = unpack5(rows)
    assert (again == boards).all()
    assert boards.sum(axis=2).max() == 15


def test_probabilities_within_the_stated_error() -> None:
    rng = np.random.default_rng(1)
    six = rng.dirichlet(np.full(6, 0.4), 5000)
    rows = pack(np.repeat(ONE, 5000, 0), five_from_six(six), np.arange(5000), np.arange(5000), 1)
    _, five = unpack5(rows)
    assert np.abs(five - five_from_six(six)).max() < 7.7e-6
    _, back = unpack6(rows)
    assert np.abs(back - six).max() < 2.4e-5  # differences of two roundings, renormalised
    assert np.abs(back.sum(axis=1) - 1).max() < 1e-6
    assert back.min() >= 0


def test_known_six_from_five() -> None:
    rows = pack(ONE, np.array([[0.6, 0.2, 0.05, 0.1, 0.02]]), np.array([7]), np.array([3]), 1)
    _, six = unpack6(rows)
    assert six[0] == pytest.approx([0.40, 0.15, 0.05, 0.30, 0.08, 0.02], abs=2e-5)
    assert (rows["game"][0], rows["turn"][0], rows["provenance"][0]) == (7, 3, 1)


@pytest.mark.parametrize("bad", [[1.2, 0, 0, 0, 0], [0.5, np.nan, 0, 0, 0], [0.5, 0, -0.1, 0, 0]])
def test_a_label_that_is_no_probability_is_refused(bad: list[float]) -> None:
    with pytest.raises(RaccoonError, match="not five probabilities"):
        pack(ONE, np.array([bad]), np.array([0]), np.array([0]), 0)


def test_a_damaged_key_is_found() -> None:
    rows = pack(ONE, np.full((1, 5), 0.1), np.array([0]), np.array([0]), 0)
    rows["key"] = 255
    with pytest.raises(RaccoonError, match="generate it again"):
        unpack6(rows)

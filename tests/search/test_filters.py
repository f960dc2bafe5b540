"""The best of each row: what a stable sort of the row keeps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from raccoon.contracts import Turns
from raccoon.engine.random import RandomEngine
from raccoon.env import ragged
from raccoon.env.board import START
from raccoon.env.movegen import enumerate_turns
from raccoon.search import Filter
from raccoon.search.effort import contact, effort_of
from raccoon.search.filters import keep_best


def test_keeps_what_a_stable_sort_keeps() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        offsets = ragged.offsets_of(rng.integers(1, 12, 8))
        values = rng.choice([0.0, -0.0, 1.0, 2.0, -np.inf, np.inf], offsets[-1])
        for k in (1, 2, 5, 20):
            wanted: list[int] = []
            for start, stop in pairwise(offsets.tolist()):
                wanted += sorted((start + np.argsort(-values[start:stop], kind="stable")[:k]).tolist())
            kept, starts = keep_best(values, offsets, k)
            assert kept.tolist() == wanted
            assert np.diff(starts).tolist() == np.minimum(np.diff(offsets), k).tolist()


def test_what_is_no_number_comes_last() -> None:
    values = np.array([np.nan, -np.inf, np.nan, 1.0])
    assert keep_best(values, np.array([0, 4]), 3)[0].tolist() == [0, 1, 3]


def board(mine: dict[int, int], other: dict[int, int]) -> np.ndarray:
    """Checkers by point, each side in its own numbering."""
    made = np.zeros((2, 25), np.int8)
    for slot, points in ((0, other), (1, mine)):
        for point, count in points.items():
            made[slot, point - 1] = count
    return made


# Two of mine on my 8 point and six below my 5 point, where the other has one (its 20): mine have 2 x 4 pips of contact, the other's
# 4, in the mean 6. The opening has 167 for both. The third is a race.
CONTACT = np.stack([START, board({8: 2, 4: 2, 3: 2, 2: 2}, {20: 1}), board({6: 2, 5: 2, 4: 2, 3: 2}, {1: 1})])


def kept(filter: Filter, step: float) -> list[int]:
    """How many candidates stay of each of the boards after 1-1, each play ``step`` points below the one before it."""
    turns = enumerate_turns(CONTACT, np.ones((3, 2), np.int8))
    places = np.concatenate([np.arange(count) for count in np.diff(turns.offsets)])

    def static(part: Turns) -> np.ndarray:
        return -step * places / 3

    _, keep = filter.apply(turns, RandomEngine(1), static)
    assert (np.diff(turns.offsets) > 16).all()
    return ragged.row_sum(keep, turns.offsets).tolist()


def test_contact_of_hand_counted_boards() -> None:
    assert contact(CONTACT).tolist() == [167, 6, 0]


@pytest.mark.parametrize(
    ("curve", "caps", "widths"),
    [
        ([[0, 0], [12, 1]], [16, 9, 2], [0.10, 0.06, 0.02]),  # effort 1, 1/2, 0
        ([[0, 0], [24, 1]], [16, 6, 2], [0.10, 0.04, 0.02]),  # 1, 1/4, 0: 2 + 3.5 is rounded to the even 6
        ([[0, 0.5], [4, 1], [8, 0.5], [167, 0]], [2, 12, 9], [0.02, 0.08, 0.06]),  # 0, 3/4, 1/2: 12.5 to 12
    ],
)
def test_the_effort_curve_of_exp022(curve: list[list[float]], caps: list[int], widths: list[float]) -> None:
    filter = Filter("value", 16, 0.10, effort=curve, least_threshold=0.02, least_k=2)  # .02 + .08 e, round(2 + 14 e)
    assert kept(filter, 0.0001) == caps
    assert kept(Filter("value", 16, 0.10, effort=curve, least_threshold=0.02), 0.013) == [int(width / 0.013) + 1 for width in widths]


def test_a_contact_scale_is_a_curve_from_nothing_to_all() -> None:
    scale, curve = Filter("value", 16, 0.10, contact_scale=12), Filter("value", 16, 0.10, effort=[[0, 0], [12, 1]])
    assert kept(scale, 0.013) == kept(curve, 0.013) == [8, 4, 1]
    assert (scale.name, curve.name) == ("value16w0.1c12", "value16w0.1e0-0_12-1")


def test_a_curve_is_level_outside_its_points() -> None:
    assert effort_of("key", [[2, 0.3], [5, 0.6]]).of(CONTACT).tolist() == [0.6, 0.6, 0.3]

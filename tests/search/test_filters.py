"""The best of each row: what a stable sort of the row keeps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from raccoon.env import ragged
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

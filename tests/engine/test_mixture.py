"""The mixture is the weighted mean of its engines."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from raccoon.contracts import Engine, RaccoonError
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.mixture import MixtureEngine
from raccoon.engine.random import RandomEngine
from raccoon.engine.sage import SageEngine
from raccoon.testing import check_engine

GNUBG, SAGE, RANDOM = GnubgEngine(0), SageEngine("1P"), RandomEngine(1)


def test_weights_are_shares(stages: np.ndarray) -> None:
    mixed = MixtureEngine({"a": GNUBG, "b": SAGE}, {"a": 3.0, "b": 1.0})
    assert_allclose(mixed.probs6(stages), 0.75 * GNUBG.probs6(stages) + 0.25 * SAGE.probs6(stages), atol=1e-6)
    assert_allclose(mixed.value(stages), 0.75 * GNUBG.value(stages) + 0.25 * SAGE.value(stages), atol=1e-6)


def test_without_weights_all_count_alike(stages: np.ndarray) -> None:
    mixed = MixtureEngine({"a": GNUBG, "b": RANDOM})
    assert not mixed.has_probs
    assert_allclose(mixed.value(stages), (GNUBG.value(stages) + RANDOM.value(stages)) / 2, atol=1e-6)


def test_the_largest_weights_are_shares_too() -> None:
    mixed = MixtureEngine({"a": GNUBG, "b": SAGE}, {"a": 1.5e308, "b": 1.5e308})
    assert [share for _, share in mixed.parts] == [0.5, 0.5]


def test_an_engine_of_weight_0_is_not_asked(stages: np.ndarray) -> None:
    idle = RandomEngine(2)
    mixed = MixtureEngine({"a": GNUBG, "b": idle}, {"a": 1.0, "b": 0.0})
    assert_allclose(mixed.probs6(stages), GNUBG.probs6(stages), atol=1e-7)
    mixed.value(stages)
    assert idle.evaluations == 0


def test_conforms() -> None:
    check_engine(MixtureEngine({"a": GNUBG, "b": SAGE}))


@pytest.mark.parametrize(
    ("engines", "weights", "message"),
    [
        ({}, None, r"engine\.engines: name one"),
        ({"a": GNUBG}, {"b": 1.0}, r"engine\.weights: give a weight for each of a"),
        ({"a": GNUBG}, {"a": -1.0}, r"engine\.weights\.a=-1\.0"),
        ({"a": GNUBG}, {"a": 0.0}, r"must be above 0"),
    ],
)
def test_bad_settings_are_named(engines: dict[str, Engine], weights: dict[str, float] | None, message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        MixtureEngine(engines, weights)

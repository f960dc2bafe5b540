"""An engine with lookahead: GNUBG's own 1-ply, and the values and chances of the tree."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from raccoon.contracts import RaccoonError
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.mixture import MixtureEngine
from raccoon.engine.random import RandomEngine
from raccoon.search.lookahead_engine import LookaheadEngine
from raccoon.search.tree import Tree
from raccoon.testing import check_engine
from raccoon.testing.subjects import sample_boards

BASE = GnubgEngine(0)


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.unique(sample_boards(), axis=0)[:10]


def test_one_ply_over_gnubg_is_gnubgs_one_ply(boards: np.ndarray) -> None:
    assert_allclose(LookaheadEngine(BASE).points(boards), GnubgEngine(1).points(boards), atol=5e-6)


def test_chances_are_those_of_the_tree_and_repeats_are_searched_once(boards: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, searched, chances_of = LookaheadEngine(BASE, prune=RandomEngine(3), shortlist=2), [], Tree.chances
    expected = engine.tree.chances(boards, 1)

    def spy(tree: Tree, given: np.ndarray, depth: int) -> np.ndarray:
        searched.append((len(given), depth))
        return chances_of(tree, given, depth)

    monkeypatch.setattr(Tree, "chances", spy)
    chances = engine.probs6(np.concatenate([boards, boards[::-1]]))
    assert_allclose(chances[:10], expected, atol=1e-6)
    assert_array_equal(chances[10:], chances[:10][::-1])
    assert searched[0] == (10, 1)


def test_conforms_with_and_without_probabilities() -> None:
    check_engine(LookaheadEngine(BASE, prune=RandomEngine(3), shortlist=1))
    scalar = LookaheadEngine(RandomEngine(1))
    assert not scalar.has_probs
    assert scalar.name.endswith("-1ply")


def test_no_ply_is_refused() -> None:
    for ply in (0, 4, 100):
        with pytest.raises(RaccoonError, match=rf"engine\.ply={ply}: give"):
            LookaheadEngine(BASE, ply=ply)


def test_lookahead_over_lookahead_is_refused() -> None:
    inner = LookaheadEngine(BASE)
    for engine in (inner, MixtureEngine({"a": BASE, "b": inner}), CompositeEngine(BearoffEngine(), inner)):
        with pytest.raises(RaccoonError, match=r"engine\.engine: it looks ahead, too.*engine\.ply"):
            LookaheadEngine(engine)
    with pytest.raises(RaccoonError, match=r"engine\.prune: it looks ahead"):
        LookaheadEngine(BASE, prune=inner)


def test_three_plies_are_allowed_and_a_fourth_is_not() -> None:
    assert LookaheadEngine(GnubgEngine(0), ply=3).ply == 3
    with pytest.raises(RaccoonError, match=r"engine\.ply=4: give 1 to 3"):
        LookaheadEngine(GnubgEngine(0), ply=4)

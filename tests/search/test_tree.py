"""The tree below a board: chances belong to values, batches change nothing, known boards are not expanded."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from raccoon.contracts import OUTCOME_POINTS
from raccoon.engine.base import EngineBase
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.search import equities
from raccoon.search.tree import Tree
from raccoon.testing.subjects import sample_boards

GNUBG = GnubgEngine(0)
PRUNE = RandomEngine(5)


class Reader(EngineBase):
    """Even chances of everything; remembers how many boards each call had."""

    def __init__(self):
        super().__init__("reader")
        self.sizes: list[int] = []

    def _probs6(self, live):
        self.sizes.append(len(live))
        return np.full((len(live), 6), 1 / 6)


@pytest.fixture(scope="module")
def boards():
    return np.unique(sample_boards(), axis=0)[:12]


@pytest.mark.parametrize(("ply", "opponent", "prune"), [(1, "greedy", None), (2, "greedy", PRUNE), (2, "full", PRUNE)])
def test_chances_belong_to_the_values(boards, ply, opponent, prune):
    tree = Tree(GNUBG, opponent, 2, prune, 2)
    chances = tree.chances(boards[: 12 if ply == 1 else 4], ply)
    assert_allclose(chances.sum(axis=1), 1, atol=1e-5)
    assert_allclose(chances @ OUTCOME_POINTS / 3, tree.values(boards[: len(chances)], ply), atol=2e-6)


@pytest.mark.parametrize("opponent", ["greedy", "full"])
def test_small_batches_give_the_same_chances_in_smaller_calls(boards, opponent):
    few, calls = boards[:4], {}
    for batch in (1 << 16, 300):
        reader = Reader()
        Tree(reader, opponent, 2, PRUNE, 2, batch=batch).chances(few, 2)
        calls[batch] = max(reader.sizes)
    assert calls[300] <= 8 * 21 * 2 < calls[1 << 16]  # at most 8 boards at a time, 21 rolls and 2 replies each
    whole, parts = (Tree(GNUBG, opponent, 2, PRUNE, 2, batch=batch) for batch in (1 << 16, 300))
    assert_array_equal(whole.chances(few, 2), parts.chances(few, 2))
    assert_array_equal(whole.values(few, 2), parts.values(few, 2))


def test_what_a_tree_does_unless_told_otherwise():
    """A greedy opponent, or the best four of a full one; five replies where an engine shortlists; 65,536 boards a call."""
    assert Tree(GNUBG) == Tree(GNUBG, "greedy", replies=4, prune=None, shortlist=5, batch=65_536)
    assert (Tree(GNUBG).width, Tree(GNUBG, "full").width) == (1, 4)
    assert Tree(GNUBG).roots(0) == 65_536


def test_known_boards_are_not_looked_below():
    tables, reader = BearoffEngine(4), Reader()
    engine = CompositeEngine(tables, reader)
    board = np.zeros((1, 2, 25), np.int8)
    board[0, 0, :3], board[0, 1, 1:4] = 1, 1
    assert equities(board, 2, engine)[0] == pytest.approx(tables.points(board)[0], abs=1e-6)
    before = engine.evaluations
    assert_array_equal(Tree(engine).chances(board, 2), tables.probs6(board))
    assert engine.evaluations == before + 1
    assert not reader.sizes

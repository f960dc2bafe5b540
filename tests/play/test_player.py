"""EnginePlayer: the best child, the first among equals, and clear errors."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raccoon.contracts import Cubes, Player, RaccoonError, SearchResult
from raccoon.cube.model import Janowski
from raccoon.engine.gnubg import GnubgEngine, candidate_equities
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.movegen import enumerate_turns
from raccoon.play import EnginePlayer
from raccoon.play.player import best_children
from raccoon.search import StaticSearch

ROWS = st.lists(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=6), min_size=1, max_size=6)


@settings(deadline=None)
@given(ROWS)
def test_best_children_is_the_first_best_full_child(rows):
    rows = [[(value, full or i == 0) for i, (value, full) in enumerate(row)] for row in rows]
    values = np.array([value for row in rows for value, _ in row], float)
    full = np.array([flag for row in rows for _, flag in row])
    offsets = np.cumsum([0] + [len(row) for row in rows])
    expected = [max((i for i, (_, f) in enumerate(row) if f), key=lambda i: (row[i][0], -i)) for row in rows]
    assert best_children(values, full, offsets).tolist() == expected


def test_unusable_values_are_refused():
    offsets = np.array([0, 2, 3])
    with pytest.raises(RaccoonError, match="not a number"):
        best_children(np.array([0, np.nan, 1.0]), np.ones(3, bool), offsets)
    with pytest.raises(RaccoonError, match="row 1"):
        best_children(np.zeros(3), np.array([True, True, False]), offsets)


def test_gnubg_plays_gnubgs_best_move():
    boards, dice = np.repeat(START[None], 3, 0), np.array([[3, 1], [6, 6], [5, 4]])
    turns = enumerate_turns(boards, dice)
    chosen = turns.children[turns.offsets[:-1] + EnginePlayer(GnubgEngine(0)).choose(turns)]
    for child, (d1, d2) in zip(chosen, dice.tolist(), strict=True):
        assert (child == candidate_equities(START, d1, d2)[0][0]).all()


def test_parts_of_another_kind_are_refused():
    wrong: list[Any] = [Janowski(), StaticSearch()]
    with pytest.raises(RaccoonError, match=r"player\.search=.*: is no search; give an option of the group search"):
        EnginePlayer(RandomEngine(1), wrong[0])
    with pytest.raises(RaccoonError, match=r"player\.engine=.*: is no engine"):
        EnginePlayer(wrong[1])


def test_names_and_cube():
    player = EnginePlayer(RandomEngine(1))
    assert isinstance(player, Player)
    assert player.name == RandomEngine(1).name

    class Deep:
        name = "deep"

        def values(self, turns, engine):
            return SearchResult(np.zeros(len(turns.children)), np.ones(len(turns.children), bool), 0)

    assert EnginePlayer(RandomEngine(1), StaticSearch("greedy")).name == "random1+static-greedy"
    assert EnginePlayer(RandomEngine(1), Deep()).name.endswith("+deep")
    boards = np.repeat(START[None], 2, 0)
    assert not player.double(boards, Cubes.centred(2)).any()
    assert player.take(boards, Cubes.centred(2)).all()


def test_an_error_in_the_values_names_the_player():
    class Broken:
        name = "broken"

        def values(self, turns, engine):
            return SearchResult(np.full(len(turns.children), np.nan), np.ones(len(turns.children), bool), 0)

    with pytest.raises(RaccoonError, match=r"player sick: .*not a number"):
        EnginePlayer(RandomEngine(1), Broken(), name="sick").choose(enumerate_turns(START[None], np.array([[3, 1]])))

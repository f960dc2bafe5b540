"""The match equity table against the copies that ship with GNU Backgammon and Open Sage."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import bgbot_cpp
import numpy as np
import pytest

from raccoon.contracts import CubeRules, RaccoonError
from raccoon.cube import match_equity_table
from raccoon.engine.random import RandomEngine
from raccoon.eval.arena.games import MatchPlan
from raccoon.play import EnginePlayer, play_games

AWAY = np.stack(
    np.meshgrid(np.arange(1, match_equity_table.LONGEST + 1), np.arange(1, match_equity_table.LONGEST + 1), indexing="ij"), -1
).reshape(-1, 2)


def gnubg_table() -> tuple[np.ndarray, np.ndarray]:
    spec = importlib.util.find_spec("gnubg")
    assert spec is not None
    assert spec.origin is not None
    root = ElementTree.parse(Path(spec.origin).parent / "data" / "met" / "Kazaross-XG2.xml").getroot()
    before = [[float(cell.text or "") for cell in row] for row in root.findall("pre-crawford-table/row")]
    after = [float(cell.text or "") for cell in root.findall("post-crawford-table/row/me")]
    return np.array(before), np.array(after)


def test_the_values_are_those_in_gnu_backgammon() -> None:
    before, after = gnubg_table()
    assert before.shape == (match_equity_table.LONGEST, match_equity_table.LONGEST)
    np.testing.assert_array_equal(match_equity_table.equity(AWAY).reshape(match_equity_table.LONGEST, match_equity_table.LONGEST), before)
    behind = np.stack([np.arange(1, match_equity_table.LONGEST + 1), np.ones(match_equity_table.LONGEST, int)], 1)
    np.testing.assert_array_equal(match_equity_table.equity(behind, True), after)
    np.testing.assert_array_equal(match_equity_table.equity(behind[:, ::-1], True), 1 - after)


def test_sage_has_the_same_table() -> None:
    sage = [bgbot_cpp.get_met(int(mine), int(theirs)) for mine, theirs in AWAY]
    np.testing.assert_allclose(match_equity_table.equity(AWAY), sage, atol=1e-7)
    # what Sage gives after a plain loss of a Crawford game is the post-Crawford value
    for away in range(2, match_equity_table.LONGEST + 1):
        lost = bgbot_cpp.eq2mwc(-1.0, 1, away, 1, True)
        assert match_equity_table.equity([[1, away - 1]], [True])[0] == pytest.approx(lost, abs=1e-7)


@pytest.mark.parametrize("post", [False, True])
def test_chances_of_the_two_sides_sum_to_one_and_grow_with_the_lead(post: bool) -> None:
    chance = match_equity_table.equity(AWAY, post).reshape(match_equity_table.LONGEST, match_equity_table.LONGEST)
    np.testing.assert_allclose(chance + chance.T, 1.0, atol=1e-12)
    assert (np.diff(chance, axis=0) < 0).all()
    assert (np.diff(chance, axis=1) > 0).all()


def test_a_match_that_is_over_and_one_that_is_too_long() -> None:
    np.testing.assert_array_equal(match_equity_table.equity([[0, 5], [-3, 1], [4, 0], [25, -1]]), [1, 1, 0, 0])
    with pytest.raises(RaccoonError, match=r"26 points away.*25.*evaluator\.match_length"):
        match_equity_table.equity([[26, 3]])
    assert match_equity_table.check_length(25, "evaluator.match_length") == 25
    with pytest.raises(RaccoonError, match=re.escape("evaluator.match_length=26")):
        match_equity_table.check_length(26, "evaluator.match_length")
    with pytest.raises(RaccoonError, match="match_length=0"):
        match_equity_table.check_length(0, "match_length")


def test_longer_matches_are_refused_before_they_start() -> None:
    with pytest.raises(RaccoonError, match=re.escape("evaluator.match_length=26")):
        MatchPlan(games=1, cube={}, match_length=26)
    player = EnginePlayer(RandomEngine(1))
    with pytest.raises(RaccoonError, match="match_length=26"):
        play_games((player, player), [0], 1, cube=CubeRules(), match_length=26)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        match_equity_table.table()[0, 1, 1] = 0.6

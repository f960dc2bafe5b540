"""What ``import raccoon`` gives: the same answers as the command lines, from Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import raccoon
from raccoon.contracts import Boards, Cubes, Turns
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START
from raccoon.play.player import EnginePlayer
from raccoon.search.expectimax import Expectimax

OPENING = "4HPwATDgc/ABMA"
BEAR_OFF = "XGID=--BBCCCAA-------aa-dccba--:0:0:1:00:0:0:0:0:10"


class Mute:
    """A player that says nothing of what it thinks."""

    name = "mute"

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        return np.zeros(len(turns), np.int64)

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        return np.zeros(len(boards), bool)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        return np.ones(len(boards), bool)


@pytest.fixture(scope="module")
def gnubg() -> EnginePlayer:
    player = raccoon.load_player("gnubg0")
    assert isinstance(player, EnginePlayer)
    return player


def test_an_engine_is_loaded_by_its_option_by_a_path_and_with_overrides(tiny_checkpoint: Path) -> None:
    assert isinstance(raccoon.load_engine("gnubg0"), GnubgEngine)
    assert raccoon.load_engine(tiny_checkpoint).name == "tiny"
    assert raccoon.load_engine("default").name == "default"
    assert raccoon.load_engine(str(tiny_checkpoint), ["engine.name=mine"]).name == "mine"
    assert raccoon.load_engine({"_target_": "raccoon.engine.GnubgEngine"}).name == "gnubg0"


def test_a_player_has_the_search_and_the_cube_that_were_asked_for(tiny_checkpoint: Path) -> None:
    player = raccoon.load_player(tiny_checkpoint, search="expectimax", cube="dead", overrides=["search.ply=2"])
    assert isinstance(player, EnginePlayer)
    assert isinstance(player.search, Expectimax)
    assert player.search.ply == 2
    assert player.engine.name == "tiny"
    assert player.cube.suffix


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: raccoon.load_engine("gnugb0"), "engine='gnugb0': is no option and no checkpoint; choose .*gnubg0"),
        (lambda: raccoon.load_player("missing.pt"), "missing.pt"),
        (lambda: raccoon.load_player(search="expectimx"), "search=expectimx: no such option.*expectimax"),
        (lambda: raccoon.load_player(overrides=["search.pli=2"]), "search.pli"),
        (lambda: raccoon.measure("pr"), "evaluator=pr: no such option"),
        (lambda: raccoon.play_arena("random", "random", games=0), "evaluator.games"),
        (lambda: raccoon.play_arena("random", "random", gmes=3), "gmes"),
        (lambda: raccoon.read_position("nonsense"), "nonsense"),
        (lambda: raccoon.read_position(OPENING, 71), "dice=71"),
        (lambda: raccoon.legal_plays(OPENING), "give them, such as dice=31"),
        (lambda: raccoon.analyse(OPENING, "gnubg0", dice=31, move="24/1"), "move='24/1'"),
        (lambda: raccoon.analyse(OPENING, "gnubg0").best, "give dice"),
        (lambda: raccoon.analyse(OPENING, Mute(), dice=31), "player mute: has no engine and search"),
        (lambda: raccoon.read_report("nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_used_is_named(call: object, told: str, gnubg: EnginePlayer) -> None:
    assert callable(call)
    with pytest.raises(raccoon.RaccoonError, match=told):
        call()


def test_a_position_is_read_from_any_id() -> None:
    bare = raccoon.read_position(OPENING, "3-1")
    np.testing.assert_array_equal(bare.board, START)
    assert (bare.dice, bare.cube_limit) == ((3, 1), 0)
    of_match = raccoon.read_position(f"{OPENING}:cAngACAAIAAE")
    assert (of_match.match_length, of_match.score, of_match.cube_limit) == (7, (4, 2), 10)


def test_legal_plays_are_those_of_the_roll() -> None:
    plays = raccoon.legal_plays(OPENING, 31)
    assert len({play.move for play in plays}) == len(plays) == 16
    assert "8/5 6/5" in {play.move for play in plays}
    assert all(play.board.shape == (2, 25) and play.board.dtype == np.int8 for play in plays)


def test_an_analysis_ranks_the_plays(gnubg: EnginePlayer) -> None:
    found = raccoon.analyse(OPENING, gnubg, dice=31)
    assert found.best.move == "8/5 6/5"
    assert found.equity == found.best.equity == -3 * float(gnubg.engine.value(found.best.board[None])[0])
    assert [play.rank for play in found.plays] == list(range(1, 17))
    assert found.cube_action is None
    asked = found.play("6/5 24/21")
    assert asked.difference == asked.equity - found.equity < 0
    assert asked.chances is not None
    assert asked.chances["win"] + asked.chances["lose"] == pytest.approx(1)
    assert str(found).startswith(f"{OPENING}, to play 3-1 (engine gnubg0, search 0-ply")


def test_the_cube_of_a_position_counts(gnubg: EnginePlayer) -> None:
    position = raccoon.read_position(BEAR_OFF)
    action = raccoon.analyse(position, gnubg).cube_action
    assert action is not None
    assert (action.action, action.double_pass) == ("double, take", 1.0)
    assert raccoon.analyse(BEAR_OFF, gnubg).cube_action == action
    assert raccoon.analyse(replace(position, cube_limit=0), gnubg).cube_action is None


def test_a_move_is_searched_as_deeply_as_the_best() -> None:
    found = raccoon.analyse(BEAR_OFF, "gnubg0", dice=21, move="8/6 7/6", search="expectimax")
    assert found.play("8/6 7/6").ply == found.best.ply == 1


def test_an_arena_of_names_and_one_of_loaded_players_are_the_same(gnubg: EnginePlayer, tmp_path: Path) -> None:
    named = raccoon.play_arena("gnubg0", "random", games=3, seed=5, folder=tmp_path / "arena")
    loaded = raccoon.play_arena(gnubg, "random", games=3, seed=5)
    assert (loaded.player, loaded.opponent) == ("gnubg0", "random0")
    assert loaded.figures["ppg_raw"] == named.figures["ppg_raw"]
    assert loaded.figures["mean_luck"] == named.figures["mean_luck"]
    assert raccoon.read_report(tmp_path / "arena").figures["ppg_vr"] == named.figures["ppg_vr"]
    with pytest.raises(raccoon.RaccoonError, match="holds an arena already"):
        raccoon.play_arena(gnubg, "random", games=3, folder=tmp_path / "arena")
    with pytest.raises(raccoon.RaccoonError, match="already holds the result"):
        raccoon.play_arena("gnubg0", "random", games=3, folder=tmp_path / "arena")
    with pytest.raises(raccoon.RaccoonError, match="workers=2"):
        raccoon.play_arena(gnubg, "random", games=3, workers=2)


def test_an_arena_with_a_cube_takes_the_options_of_its_evaluator(gnubg: EnginePlayer) -> None:
    report = raccoon.play_arena(gnubg, gnubg, cube=True, games=2, cap=1)
    assert report.evaluator == "cube_arena"
    assert report.figures["doubles_per_game_player"].value == 0


def test_any_measurement_runs_from_python() -> None:
    assert raccoon.measure("doubles", "gnubg0", "gnubg0", games=1).evaluator == "doubles"

"""Games with a live cube: who is asked, what a double does, what a game pays; and matches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import OPPONENT, BeaverPlayer, CubeRules, Cubes, Offer, RaccoonError, Turns
from raccoon.cube.model import Janowski
from raccoon.cube.state import CubeState
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START, terminal_points
from raccoon.env.movegen import enumerate_turns
from raccoon.play import dice
from raccoon.play.match import play_games
from raccoon.play.observers import DoubleCounter, Recorder
from raccoon.play.player import EnginePlayer

GNUBG = GnubgEngine(0)


class Scripted(EnginePlayer):
    """GNUBG's plays; doubles, takes and beavers as told, and remembers what it was asked."""

    def __init__(self, name: str, double: bool = True, take: bool = True, beaver: bool = False) -> None:
        super().__init__(GNUBG, name=name, cube=Janowski(moves="cubeless"))
        self.answers = {"double": double, "take": take, "beaver": beaver}
        self.asked: list[tuple[str, Cubes]] = []

    def _answer(self, question: str, cubes: Cubes) -> np.ndarray:
        self.asked.append((question, cubes))
        return np.full(len(cubes), self.answers[question])

    def double(self, boards: np.ndarray, cubes: Cubes) -> np.ndarray:
        return self._answer("double", cubes)

    def take(self, boards: np.ndarray, cubes: Cubes) -> np.ndarray:
        return self._answer("take", cubes)

    def beaver(self, boards: np.ndarray, cubes: Cubes) -> np.ndarray:
        return self._answer("beaver", cubes)


class Offers:
    def __init__(self) -> None:
        self.offers: list[Offer] = []

    def doubled(self, offer: Offer) -> None:
        self.offers.append(offer)

    def rolled(self, step) -> None: ...
    def played(self, step, turns, chosen) -> None: ...
    def finished(self, games, points) -> None: ...


def same(first, second) -> bool:
    return all((getattr(first, name) == getattr(second, name)).all() for name in ("points", "rolls", "capped", "cube"))


def test_a_cube_nobody_turns_changes_nothing() -> None:
    games = np.arange(20)
    quiet = EnginePlayer(GNUBG, cube=Janowski(moves="cubeless", doubles=False))
    assert same(play_games((quiet, quiet), games, 3), play_games((quiet, quiet), games, 3, cube=CubeRules()))
    jacoby = play_games((quiet, quiet), games, 3, cube=CubeRules(jacoby=True))
    free = play_games((quiet, quiet), games, 3)
    assert (np.abs(free.points) > 1).any()
    assert (jacoby.points == np.sign(free.points)).all()


def test_drop_pays_the_undoubled_cube() -> None:
    brave, shy = Scripted("brave"), Scripted("shy", double=False, take=False)
    offers = Offers()
    result = play_games((brave, shy), np.arange(8), 1, cube=CubeRules(), observers=[offers])
    # brave doubles before its first roll, which is never the opening roll
    assert (result.points == 1).all()
    assert (result.cube == 1).all()
    assert set(result.rolls.tolist()) == {1, 2}
    assert not np.concatenate([offer.took for offer in offers.offers]).any()


def test_a_taken_double_goes_to_the_taker_and_only_the_owner_redoubles() -> None:
    first, second = Scripted("first"), Scripted("second", double=False)
    result = play_games((first, second), np.arange(8), 1, cube=CubeRules())
    assert (result.cube == 2).all()
    assert (np.abs(result.points) % 2 == 0).all()
    # once second has the cube, first is not asked again: a redouble by the wrong side cannot happen
    asked = [cubes for question, cubes in first.asked if question == "double"]
    assert all((cubes.owner != OPPONENT).all() for cubes in asked)
    with pytest.raises(RaccoonError, match="may not double"):
        CubeState(2, 1).doubled(0)


def test_the_cap_and_jacoby_and_beavers() -> None:
    pair = (Scripted("a"), Scripted("b"))
    capped = play_games(pair, np.arange(6), 2, cube=CubeRules(cap=16))
    assert capped.cube.max() == 16
    assert (np.abs(capped.points) % capped.cube == 0).all()
    endless = play_games(pair, np.arange(6), 2, cube=CubeRules())
    assert endless.cube.max() <= 1024
    counter = DoubleCounter(np.arange(6))
    beaver = Scripted("beaver", double=False, beaver=True)
    result = play_games((Scripted("c"), beaver), np.arange(6), 2, cube=CubeRules(beavers=True), observers=[counter])
    assert (result.cube == 4).all()  # one double, beavered; the cube stays with the taker, who never doubles
    assert (counter.counts[:, 0] == [1, 1, 1]).all()
    assert not counter.counts[:, 1].any()
    plain = play_games((Scripted("c"), Scripted("d", double=False, beaver=True)), np.arange(6), 2, cube=CubeRules())
    assert (plain.cube == 2).all()
    low = play_games((Scripted("c"), beaver), np.arange(6), 2, cube=CubeRules(beavers=True, cap=2))
    assert (low.cube == 2).all()


def by_hand(game: int, seed: int, player: EnginePlayer, rules: CubeRules) -> tuple[int, int]:
    """One game of a player against itself, one question at a time, the cube kept by ``CubeState``: (points to player 0, cube)."""
    seat, rolled = dice.opening(seed, np.array([game]))
    mover, cube, board, roll = int(seat[0]), CubeState(), START, 0
    sign = lambda who: 1 if who == game % 2 else -1  # noqa: E731  (player 0 sits in seat game % 2)
    codes = {"centered": 0, "player": 1, "opponent": -1}
    while True:
        if roll:
            rolled = dice.rolls(seed, np.array([game]), np.array([roll]))
            asked = Cubes(np.array([cube.value], np.int32), np.array([codes[cube.label(mover)]], np.int8), rules)
            if cube.may_double(mover) and player.double(board[None], asked)[0]:
                if not player.take(board[None], asked)[0]:
                    return sign(mover) * cube.value, cube.value
                cube = cube.doubled(mover)
        asked = Cubes(np.array([cube.value], np.int32), np.array([codes[cube.label(mover)]], np.int8), rules)
        turns = enumerate_turns(board[None], rolled, asked)
        board = turns.children[player.choose(turns)[0]]
        points = -int(terminal_points(board[None])[0])
        if points:
            return sign(mover) * cube.value * (1 if rules.jacoby and cube.owner is None else points), cube.value
        mover, roll = 1 - mover, roll + 1


@pytest.mark.parametrize("jacoby", [False, True])
def test_games_are_those_of_a_loop_by_hand(jacoby: bool) -> None:
    player, rules = EnginePlayer(GNUBG), CubeRules(jacoby=jacoby)
    result = play_games((player, player), np.arange(12), 6, cube=rules)
    assert [by_hand(game, 6, player, rules) for game in range(12)] == list(zip(result.points.tolist(), result.cube.tolist(), strict=True))
    assert result.cube.max() > 1


@pytest.mark.parametrize("length", [None, 3])
def test_results_do_not_depend_on_concurrency_or_observers(length: int | None) -> None:
    players = (EnginePlayer(GNUBG), EnginePlayer(GNUBG, cube=Janowski(1.0, 1.0)))
    reference = play_games(players, np.arange(9), 2, cube=CubeRules(), match_length=length)
    for concurrent in (1, 4):
        assert same(reference, play_games(players, np.arange(9), 2, cube=CubeRules(), match_length=length, concurrent=concurrent))
    watched = play_games(
        players, np.arange(9), 2, cube=CubeRules(), match_length=length, observers=[Recorder(), DoubleCounter(np.arange(9))]
    )
    assert same(reference, watched)


def test_matches_keep_score_and_play_one_crawford_game() -> None:
    recorder, player = Recorder(), EnginePlayer(GNUBG)
    length = 3
    result = play_games((player, player), np.arange(12), 5, cube=CubeRules(), match_length=length, observers=[recorder])
    assert set(result.points.tolist()) == {-1, 1}
    records = list(recorder.records())
    assert [record.game for record in records] == list(range(12))
    crawfords = []
    for record in records:
        away, crawford = record.cubes.away, record.cubes.crawford
        assert away is not None
        assert crawford is not None
        starts = np.flatnonzero((record.boards == START).all(axis=(1, 2)) & (np.r_[True, (away[1:] != away[:-1][:, ::-1]).any(axis=1)]))
        games = np.split(np.arange(len(away)), starts[1:])
        before = np.array([length, length])
        crawfords.append(sum(bool(crawford[rows[0]]) for rows in games))
        for rows in games:
            scores = np.where(record.mover[rows, None] == 0, away[rows], away[rows][:, ::-1])
            assert (scores == scores[0]).all()
            assert (scores[0] <= before).all()
            assert len(set(crawford[rows].tolist())) == 1
            if crawford[rows[0]]:
                assert scores[0].min() == 1
                assert (record.cubes.value[rows] == 1).all()
            before = scores[0]
    assert set(crawfords) == {0, 1}


def test_one_point_match_has_no_cube() -> None:
    pair = (Scripted("a"), Scripted("b"))
    result = play_games(pair, np.arange(10), 7, cube=CubeRules(), match_length=1)
    free = play_games(pair, np.arange(10), 7)
    assert (result.points == np.sign(free.points)).all()
    assert (result.rolls == free.rolls).all()
    assert not [question for question, cubes in pair[0].asked if len(cubes)]


def test_bad_input_is_refused() -> None:
    player = EnginePlayer(GNUBG)

    class Mute(Scripted):
        def take(self, boards: Any, cubes: Cubes) -> Any:
            return np.ones(len(boards))

    with pytest.raises(RaccoonError, match=r"player mute: take\(\) gave float64"):
        play_games((Scripted("x"), Mute("mute")), [0], 1, cube=CubeRules())
    with pytest.raises(RaccoonError, match="match_length"):
        play_games((player, player), [0], 1, match_length=3)
    with pytest.raises(RaccoonError, match="match_length"):
        play_games((player, player), [0], 1, cube=CubeRules(jacoby=True), match_length=3)
    with pytest.raises(RaccoonError, match="match_length"):
        play_games((player, player), [0], 1, cube=CubeRules(), match_length=0)


class NeverBeavers:
    """Doubles and takes at once; it has no ``beaver``."""

    name = "never"

    def choose(self, turns: Turns) -> np.ndarray:
        return np.zeros(len(turns), np.int64)

    def double(self, boards: np.ndarray, cubes: Cubes) -> np.ndarray:
        return np.ones(len(cubes), bool)

    take = double


def test_a_player_without_beaver_takes_under_rules_with_beavers() -> None:
    assert not isinstance(NeverBeavers(), BeaverPlayer)
    assert isinstance(EnginePlayer(GNUBG), BeaverPlayer)
    counter = DoubleCounter(np.arange(4))
    play_games((NeverBeavers(), NeverBeavers()), np.arange(4), 2, cube=CubeRules(beavers=True, cap=4), observers=[counter], turn_cap=4)
    assert counter.counts[:, :, 1].sum() == counter.counts[:, :, 0].sum() > 0
    assert not counter.counts[:, :, 2].any()

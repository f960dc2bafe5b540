"""Luck with a live cube: mean zero at every roll for both control variates, exact where it can be, and only watching."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import CubeRules, Cubes
from raccoon.cube.exact_bearoff import CubefulBearoff
from raccoon.cube.model import Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.rolls import best_of_rolls
from raccoon.env.board import START, terminal_points
from raccoon.env.movegen import ROLL_PROBS, ROLLS
from raccoon.eval.arena.cube_luck import CONTROLS, CubeLuckObserver, cube_roll_values
from raccoon.eval.luck import luck_of
from raccoon.play.dice import OPENING_PAIRS
from raccoon.play.match import play_games
from raccoon.play.observers import Recorder
from raccoon.play.player import EnginePlayer

PLAYER = EnginePlayer(GnubgEngine(0))


def seen(rules: CubeRules, games: int = 6) -> tuple[np.ndarray, Cubes]:
    """Every pre-roll position of some games with a cube, and its cube."""
    recorder = Recorder()
    play_games((PLAYER, PLAYER), np.arange(games), 3, cube=rules, observers=[recorder])
    records = list(recorder.records())
    return np.concatenate([record.boards for record in records]), Cubes.joined([record.cubes for record in records])


@pytest.mark.parametrize("jacoby", [False, True])
def test_luck_has_mean_zero_at_every_roll(jacoby: bool) -> None:
    boards, cubes = seen(CubeRules(jacoby=jacoby))
    some = np.arange(0, len(boards), 3)
    boards, cubes = boards[some], cubes.take(some)
    assert set(cubes.owner.tolist()) == {-1, 0, 1}
    assert len(boards) > 60
    observer, none = CubeLuckObserver(np.arange(1)), np.zeros(len(boards), bool)
    by_roll = np.stack([observer.of(boards, np.repeat(roll[None], len(boards), axis=0), cubes, none) for roll in ROLLS], axis=1)
    assert np.abs((by_roll * ROLL_PROBS[None, :, None]).sum(axis=1)).max() < 1e-12
    assert (np.abs(by_roll).max(axis=(0, 1)) > 0.1).all()


def test_the_opening_has_mean_zero_over_both_seats() -> None:
    observer = CubeLuckObserver(np.arange(1))
    n = len(OPENING_PAIRS)
    boards, cubes = np.repeat(START[None], n, axis=0), Cubes.centred(n, CubeRules())
    luck = observer.of(boards, OPENING_PAIRS, cubes, np.ones(n, bool))
    # either side may have rolled it: the roller's luck is the other one's bad luck
    assert np.abs(np.concatenate([luck, -luck]).sum(axis=0)).max() < 1e-12
    np.testing.assert_array_equal(
        luck, cube_roll_values(START[None], cubes.take([0]), GnubgEngine(0), observer._model)[0][index(OPENING_PAIRS)]
    )


def index(dice: np.ndarray) -> list[int]:
    return [ROLLS.tolist().index(sorted(roll)) for roll in dice.tolist()]


def test_cubeless_at_cube_1_is_the_luck_of_cubeless_games() -> None:
    boards, cubes = seen(CubeRules(), 3)
    dice = ROLLS[np.arange(len(boards)) % 21]
    luck = CubeLuckObserver(np.arange(1)).of(boards, dice, Cubes.centred(len(boards), CubeRules()), np.zeros(len(boards), bool))
    plain, _ = luck_of(boards, dice, np.zeros(len(boards), bool))
    np.testing.assert_allclose(luck[:, CONTROLS.index("cubeless")], plain, atol=1e-6)
    staked = CubeLuckObserver(np.arange(1)).of(boards, dice, cubes, np.zeros(len(boards), bool))
    np.testing.assert_allclose(staked[:, CONTROLS.index("cubeless")], plain * cubes.value, atol=1e-5)


def test_chosen_plays_are_gnubgs_best() -> None:
    boards, _ = seen(CubeRules(), 4)
    live = boards[:: max(1, len(boards) // 40)]
    ending = np.zeros((1, 2, 25), np.int8)
    ending[0, 1, [0, 2]], ending[0, 0, 0] = 1, 1
    live = np.concatenate([live, ending])
    engine = GnubgEngine(0)
    plays, probs5 = engine.roll_plays(live)
    over = terminal_points(plays.reshape(-1, 2, 25)).reshape(plays.shape[:2])
    assert (over[-1] != 0).any()
    points = np.where(over != 0, over, engine.points(plays.reshape(-1, 2, 25)).reshape(over.shape))
    np.testing.assert_allclose(-points, best_of_rolls(live, engine), atol=1e-6)
    np.testing.assert_allclose(probs5, engine.probs5(plays.reshape(-1, 2, 25)).reshape(*over.shape, 5), atol=1e-9)


def test_on_the_last_rolls_nothing_is_left_to_luck() -> None:
    # one roll wins or loses the game: the result minus luck is the exact equity of the position, whatever is rolled
    boards = np.zeros((2, 2, 25), np.int8)
    boards[0, 1, [4, 1]], boards[0, 0, 0] = 1, 1
    boards[1, 1, 5], boards[1, 0, 0] = 1, 1
    cubes = Cubes(np.array([4, 2], np.int32), np.array([1, -1], np.int8), CubeRules())
    values = cube_roll_values(boards, cubes, GnubgEngine(0), Janowski())
    exact = CubefulBearoff(2).no_double(boards)[[0, 1], [1, 2]] * cubes.value
    np.testing.assert_allclose((values * ROLL_PROBS[None, :, None]).sum(axis=1), np.stack([exact, exact], axis=1), atol=1e-6)


def test_it_watches_only_and_takes_out_most_of_the_spread() -> None:
    games = np.arange(60)
    bare = play_games((PLAYER, PLAYER), games, 9, cube=CubeRules())
    luck = CubeLuckObserver(games)
    watched = play_games((PLAYER, PLAYER), games, 9, cube=CubeRules(), observers=[luck])
    assert (bare.points == watched.points).all()
    assert (bare.rolls == watched.rolls).all()
    raw = bare.points.std()
    assert raw / (bare.points - luck.luck[:, 0]).std() > 3
    assert raw / (bare.points - luck.luck[:, 1]).std() > 2

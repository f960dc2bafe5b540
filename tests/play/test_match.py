"""The match runner: the same games however many are played at a time, results as OpenSpiel scores them, clear errors."""

import numpy as np
import pytest

from raccoon.contracts import CubeRules, RaccoonError
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.env import game_wrapper
from raccoon.env.board import START
from raccoon.env.movegen import enumerate_turns
from raccoon.play import EnginePlayer, play_games
from raccoon.play.match import slice_turns, take_turns
from raccoon.play.observers import Recorder

PAIR = (EnginePlayer(RandomEngine(1), name="a"), EnginePlayer(RandomEngine(2), name="b"))


def test_results_do_not_depend_on_how_many_are_played_at_a_time():
    games = np.arange(100, 107)
    reference = play_games(PAIR, games, 9, concurrent=256)
    assert set(np.sign(reference.points)) == {-1, 1}
    for concurrent in (1, 7):
        again = play_games(PAIR, games, 9, concurrent=concurrent)
        for name in ("games", "points", "rolls", "capped"):
            assert (getattr(again, name) == getattr(reference, name)).all()
    shuffled = play_games(PAIR, games[::-1], 9, concurrent=7)
    assert (shuffled.points[::-1] == reference.points).all()
    assert (play_games(PAIR, games, 10).points != reference.points).any()


def test_games_are_those_of_openspiel():
    recorder = Recorder()
    players = (EnginePlayer(GnubgEngine(0)), PAIR[1])
    result = play_games(players, np.arange(12), 4, observers=[recorder])
    for record, points, rolls in zip(recorder.records(), result.points, result.rolls, strict=True):
        state = game_wrapper.load_game().new_initial_state()
        seat_of_player0 = record.game % 2
        for roll, (mover, board, dice, after) in enumerate(zip(record.mover, record.boards, record.dice, record.after, strict=True)):
            seat = int(mover) ^ seat_of_player0
            game_wrapper.apply_roll(state, dice, seat if roll == 0 else None)
            assert state.current_player() == seat
            assert (game_wrapper.view(state).board == board).all()
            game_wrapper.play_turn(state, after)
        assert state.is_terminal()
        assert len(record.mover) == rolls
        assert state.returns()[seat_of_player0] == points


def test_each_player_makes_its_own_plays():
    recorder = Recorder()
    play_games(PAIR, np.arange(8), 2, observers=[recorder], concurrent=3)
    for record in recorder.records():
        for side, player in enumerate(PAIR):
            rows = record.mover == side
            turns = enumerate_turns(record.boards[rows], record.dice[rows])
            chosen = turns.children[turns.offsets[:-1] + player.choose(turns)]
            assert (chosen == record.after[rows]).all()


def test_a_player_against_itself_is_asked_once_and_plays_the_same():
    twin = EnginePlayer(RandomEngine(1))
    same = play_games((PAIR[0], PAIR[0]), np.arange(20), 3)
    apart = play_games((PAIR[0], twin), np.arange(20), 3)
    assert (same.points == apart.points).all()
    assert (same.rolls == apart.rolls).all()


def test_turn_cap_is_counted_apart():
    result = play_games(PAIR, np.arange(10), 1, turn_cap=20)
    assert result.capped.any()
    assert (result.points[result.capped] == 0).all()
    assert (result.rolls[result.capped] == 20).all()
    assert (result.points[~result.capped] != 0).all()


def test_observers_see_every_game_end_once():
    class Ends:
        def __init__(self):
            self.points = {}

        def rolled(self, step):
            assert (step.cubes.value == 1).all()

        def played(self, step, turns, chosen):
            assert len(step.games) == len(turns) == len(chosen)

        def finished(self, games, points):
            assert not set(games.tolist()) & set(self.points)
            self.points.update(zip(games.tolist(), points.tolist(), strict=True))

    ends = Ends()
    result = play_games(PAIR, np.arange(15), 6, observers=[ends], concurrent=4)
    assert [ends.points[game] for game in result.games.tolist()] == result.points.tolist()


def test_slices_of_turns_keep_their_children():
    recorder = Recorder()
    play_games(PAIR, np.arange(2), 1, observers=[recorder])
    record = next(recorder.records())
    turns = enumerate_turns(record.boards[:9], record.dice[:9])
    for part, rows in ((slice_turns(turns, 2, 5), [2, 3, 4]), (take_turns(turns, np.array([7, 0, 3])), [7, 0, 3])):
        for here, row in enumerate(rows):
            mine = part.children[part.offsets[here] : part.offsets[here + 1]]
            assert (mine == turns.children[turns.offsets[row] : turns.offsets[row + 1]]).all()
            assert (part.boards[here] == turns.boards[row]).all()
            assert (part.dice[here] == turns.dice[row]).all()
    assert len(take_turns(turns, np.zeros(9, bool))) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"concurrent": 0}, "concurrent=0"),
        ({"turn_cap": 0}, "turn_cap=0"),
        ({"openings": "x"}, "openings='x'"),
        ({"games": [-1]}, "index -1"),
        ({"games": [2, 2]}, "occurs twice"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    arguments = {"games": [0], **arguments}
    with pytest.raises(RaccoonError, match=message):
        play_games(PAIR, arguments.pop("games"), 1, **arguments)


@pytest.mark.parametrize(("answer", "message"), [(np.array([99]), "outside"), (np.array([0.0]), "float64"), (np.array([0, 0]), r"\[2\]")])
def test_a_player_that_answers_nonsense_is_named(answer, message):
    class Odd(EnginePlayer):
        def choose(self, turns):
            return answer

    with pytest.raises(RaccoonError, match=f"player odd.*{message}"):
        play_games((Odd(RandomEngine(1), name="odd"), PAIR[1]), np.arange(2), 1, concurrent=1)


def test_no_games_is_an_empty_result():
    assert len(play_games(PAIR, np.zeros(0, int), 1).points) == 0


@pytest.mark.parametrize("games", [[0.5], ["a"], None, [True], [2**63], [[0], [1, 2]]], ids=str)
def test_games_are_whole_numbers(games):
    with pytest.raises(RaccoonError, match="games"):
        play_games(PAIR, games, 1)


@pytest.mark.parametrize(
    ("key", "value"), [("concurrent", "5"), ("concurrent", 1.5), ("concurrent", None), ("turn_cap", 2.5), ("turn_cap", True)]
)
def test_counts_are_whole_numbers(key, value):
    with pytest.raises(RaccoonError, match=f"{key}="):
        play_games(PAIR, [0], 1, **{key: value})


@pytest.mark.parametrize("seed", ["x", None, 1.5, -1, True], ids=str)
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(RaccoonError, match="seed="):
        play_games(PAIR, [0], seed)


@pytest.mark.parametrize(
    "players", [PAIR[:1], (*PAIR, PAIR[0]), (PAIR[0], "x"), (None, None), PAIR[0]], ids=["1", "3", "text", "none", "bare"]
)
def test_two_players_play(players):
    with pytest.raises(RaccoonError, match="players"):
        play_games(players, [0], 1)


def test_no_games_are_no_results():
    assert len(play_games(PAIR, [], 1).points) == 0


def _walked(games: int) -> np.ndarray:
    """Unfinished boards a few turns into random games."""
    recorder = Recorder()
    play_games(PAIR, np.arange(games), 3, observers=[recorder], turn_cap=30)
    return np.stack([record.boards[-1] for record in recorder.records()])


def test_games_start_from_given_boards():
    starts, recorder = _walked(24), Recorder()
    starts[5] = START
    result = play_games(PAIR, np.arange(100, 124), 8, observers=[recorder], starts=starts, concurrent=7)
    first = []
    for record, start, rolls in zip(recorder.records(), starts, result.rolls, strict=True):
        assert (record.boards[0] == start).all()
        assert len(record.dice) == rolls
        first.append(record.dice[0])
    doubles = np.diff(np.array(first), axis=1)[:, 0] == 0
    assert doubles.any()  # no opening roll
    assert not doubles[5]
    usual = play_games(PAIR, np.arange(100, 124), 8)
    assert (result.points[5], result.rolls[5]) == (usual.points[5], usual.rolls[5])


def test_starting_positions_given_as_starts_change_nothing():
    plain = play_games(PAIR, np.arange(9), 8)
    given = play_games(PAIR, np.arange(9), 8, starts=np.repeat(START[None], 9, axis=0))
    assert (plain.points == given.points).all()
    assert (plain.rolls == given.rolls).all()


def test_the_turn_cap_counts_from_the_given_board():
    result = play_games(PAIR, np.arange(12), 1, turn_cap=5, starts=_walked(12))
    assert (result.rolls[result.capped] == 5).all()
    assert result.capped.any()


@pytest.mark.parametrize(
    ("starts", "more", "message"),
    [
        (np.zeros((1, 2, 25), np.int8), {}, "starts: row 0 is a finished game"),
        (np.full((1, 2, 25), 1, np.int8), {}, "starts: row 0 has more than 15"),
        (np.repeat(START[None], 2, axis=0), {}, "starts: 2 boards for 1 games"),
        (START[None], {"match_length": 3, "cube": CubeRules()}, "starts: matches"),
    ],
)
def test_bad_starts_are_named(starts, more, message):
    with pytest.raises(RaccoonError, match=message):
        play_games(PAIR, [0], 1, starts=starts, **more)

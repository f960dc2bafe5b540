"""GNUBG's evaluations, sweeps and levels, against the bindings themselves and against identities."""

from __future__ import annotations

import importlib
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.engine.gnubg import LEVELS, GnubgEngine, best_move_equity, candidate_equities, roll_values
from raccoon.engine.gnubg import _engine as engine_of
from raccoon.engine.gnubg_levels import ply_of
from raccoon.engine.random import RandomEngine
from raccoon.engine.rolls import best_of_rolls
from raccoon.env.board import START
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates
from raccoon.testing import check_engine, sample_boards
from raccoon.testing.engine import finished_boards

gnubg_nn: Any = importlib.import_module("gnubg_nn")
TO_POINTS = np.array([2, 1, 1, -1, -1])


def roll_number(d1: int, d2: int) -> int:
    return ROLLS.tolist().index([min(d1, d2), max(d1, d2)])


@pytest.mark.parametrize("ply", [0, 1])
def test_probabilities_are_the_bindings_own(ply: int, stages: np.ndarray) -> None:
    boards = stages if ply == 0 else stages[::12]
    expected = np.array([gnubg_nn.probabilities(board.tolist(), ply) for board in boards])
    engine = GnubgEngine(ply)
    assert np.array_equal(engine.probs5(boards), expected)
    assert engine.points(boards) == pytest.approx(expected @ TO_POINTS - 1)
    assert engine.value(boards) == pytest.approx((expected @ TO_POINTS - 1) / 3, abs=1e-6)
    assert engine.evaluations == 3 * len(boards)


@pytest.mark.parametrize(("ply", "package"), [(0, "nn"), (0, "pruned"), (1, "pruned")])
def test_conforms(ply: int, package: str) -> None:
    check_engine(GnubgEngine(ply, package))  # pyright: ignore[reportArgumentType]


def test_finished_boards_are_exact() -> None:
    probs5 = GnubgEngine(0).probs5(finished_boards())
    assert (probs5 @ TO_POINTS - 1).tolist() == [-1, -2, -3, 1, 2, 3]


def test_pruned_package_agrees(stages: np.ndarray) -> None:
    difference = GnubgEngine(0, "pruned").probs5(stages) - GnubgEngine(0).probs5(stages)
    assert np.abs(difference).max() < 0.003
    some = stages[::6]
    assert np.abs(GnubgEngine(1, "pruned").points(some) - GnubgEngine(1).points(some)).max() < 0.03


@pytest.mark.slow
def test_pruned_two_ply_agrees(stages: np.ndarray) -> None:
    some = stages[::16]
    assert np.abs(GnubgEngine(2, "pruned").points(some) - GnubgEngine(2).points(some)).max() < 0.03


def test_mean_of_the_sweep_is_gnubgs_own_one_ply() -> None:
    boards = sample_boards(12, seed=8)
    one_ply = np.array([gnubg_nn.probabilities(board.tolist(), 1) for board in boards]) @ TO_POINTS - 1
    assert roll_values(boards) @ ROLL_PROBS == pytest.approx(one_ply, abs=1e-6)


def test_native_sweep_equals_the_sweep_over_our_own_plays(stages: np.ndarray) -> None:
    engine = GnubgEngine(0)
    values = engine.roll_values(stages)
    assert values.shape == (len(stages), 21)
    assert values == pytest.approx(best_of_rolls(stages, engine), abs=1e-6)


def test_best_move_equity_equals_the_sweep(stages: np.ndarray) -> None:
    values = roll_values(stages)
    for row in range(0, len(stages), 9):
        for roll, (d1, d2) in enumerate(ROLLS.tolist()):
            assert best_move_equity(stages[row], d2, d1) == pytest.approx(values[row, roll], abs=1e-6)


@pytest.mark.parametrize(("theirs", "points"), [({0: 1}, 1.0), ({10: 15}, 2.0), ({20: 15}, 3.0)])
def test_rolls_that_end_the_game_count_exactly(theirs: dict[int, int], points: float) -> None:
    board = np.zeros((2, 25), np.int8)
    board[1, 0] = 2
    board[0, list(theirs)] = list(theirs.values())
    assert roll_values(board[None]).tolist() == [[points] * 21]
    assert best_move_equity(board, 2, 1) == points
    assert candidate_equities(board, 2, 1)[0][1] == points


def test_a_dance_is_minus_the_swapped_board(stages: np.ndarray) -> None:
    closed = stages[-1]
    swapped = -GnubgEngine(0).points(closed[None, ::-1])[0]
    assert roll_values(closed[None])[0, roll_number(3, 1)] == swapped
    assert best_move_equity(closed, 3, 1) == swapped
    assert [points for _, points in candidate_equities(closed, 3, 1)] == [swapped]


def test_opening_rolls_have_their_known_worth() -> None:
    values = roll_values(START[None])[0]
    for roll, worth in {(3, 1): 0.160, (4, 2): 0.114, (6, 1): 0.091, (5, 1): 0.001, (4, 1): -0.003, (2, 1): -0.006}.items():
        assert values[roll_number(*roll)] == pytest.approx(worth, abs=6e-4)
    plain = ROLLS[:, 0] != ROLLS[:, 1]
    assert values[plain].mean() == pytest.approx(0.0396, abs=1e-4)


def test_other_engines_sweep_too() -> None:
    boards = sample_boards(5)
    engine = RandomEngine(4)
    values = best_of_rolls(boards, engine)
    for row in range(len(boards)):
        for roll in (0, 7, 20):
            children, _ = afterstates(boards[row : row + 1], ROLLS[roll : roll + 1])
            assert values[row, roll] == (-engine.points(children)).max()


@pytest.mark.parametrize("ply", [0, 1])
def test_candidates_are_whole_turns_best_first(ply: int) -> None:
    board = sample_boards(3, seed=6)[2]
    for d1, d2 in ((5, 3), (2, 2)):
        candidates = candidate_equities(board, d1, d2, ply)
        children, _ = afterstates(board[None], np.array([[d1, d2]]))
        assert {child.tobytes() for child, _ in candidates} == {child.tobytes() for child in children}
        points = [value for _, value in candidates]
        assert points == sorted(points, reverse=True)
        assert points == pytest.approx([-engine_of(ply).points(child[None])[0] for child, _ in candidates])
        assert best_move_equity(board, d1, d2, ply) == pytest.approx(points[0], abs=1e-6)


def test_levels() -> None:
    assert {name: ply_of(name) for name in LEVELS} == LEVELS
    assert ply_of("World_Class") == 2
    with pytest.raises(RaccoonError, match=r"level='?master'?: is no level of GNUBG; choose one of beginner"):
        ply_of("master")


def test_engines_survive_pickling() -> None:
    engine = pickle.loads(pickle.dumps(GnubgEngine(1, "pruned", name="mine")))
    assert (engine.ply, engine.package, engine.name) == (1, "pruned", "mine")
    assert engine.value(START[None])[0] == GnubgEngine(1, "pruned").value(START[None])[0]


@pytest.mark.parametrize(
    ("arguments", "told"), [((3,), "engine.ply=3"), ((-1,), "engine.ply=-1"), ((True,), "engine.ply=True"), ((0, "full"), "engine.package")]
)
def test_unknown_settings_are_named(arguments: tuple, told: str) -> None:
    with pytest.raises(RaccoonError, match=told):
        GnubgEngine(*arguments)


@pytest.mark.parametrize(("package", "module"), [("nn", "gnubg_nn"), ("pruned", "gnubg")])
def test_a_missing_package_is_named(package: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RaccoonError, match=f"pip install {module.replace('_', '-')}"):
        GnubgEngine(0, package)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (3, -2), (2.5, 1)])
@pytest.mark.parametrize("ask", [best_move_equity, candidate_equities])
def test_impossible_dice_are_refused(ask, dice: tuple) -> None:
    with pytest.raises(RaccoonError, match="each die is 1 to 6"):
        ask(START, *dice)


def test_finished_and_illegal_boards_are_refused() -> None:
    over = finished_boards()
    crowded = START.copy()
    crowded[1, 0] += 1
    for board in over:
        with pytest.raises(RaccoonError, match="the game is over"):
            best_move_equity(board, 3, 1)
    for ask in (best_move_equity, candidate_equities):
        with pytest.raises(RaccoonError, match="more than 15"):
            ask(crowded, 3, 1)
    for boards in (over[:3], over[3:], np.concatenate([START[None], over[:1]])):
        with pytest.raises(ValueError, match=r"finished|over"):
            roll_values(boards)
    with pytest.raises(ValueError, match="row 1"):
        roll_values(np.stack([START, crowded]))


def test_no_boards_sweep_to_nothing() -> None:
    assert roll_values(START[None][:0]).shape == (0, 21)
    assert GnubgEngine(0).probs5(START[None][:0]).shape == (0, 5)

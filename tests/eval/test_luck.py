"""Luck: zero on average over every node, the opening as known, the batch forms equal to OpenSpiel's own moves."""

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.engine.gnubg import GnubgEngine, roll_values
from raccoon.engine.random import RandomEngine
from raccoon.env import game_wrapper
from raccoon.env.board import START
from raccoon.env.movegen import ROLLS
from raccoon.eval import luck
from raccoon.play import EnginePlayer, play_games
from raccoon.play.observers import Recorder

EXACT_PROBS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1 / 36, 2 / 36)


@pytest.fixture(scope="module")
def games():
    """Eight games of GNUBG against a random player, so that they hold backgammons, blots and bear-offs."""
    recorder = Recorder()
    players = (EnginePlayer(GnubgEngine(0)), EnginePlayer(RandomEngine(5)))
    result = play_games(players, np.arange(8), 12, observers=[recorder])
    return list(recorder.records()), result


@pytest.fixture(scope="module")
def chance_nodes(games):
    """Each game replayed in OpenSpiel: ``(game row, roll, state before the roll, chance action, seat of player 0)``."""
    nodes = []
    for row, record in enumerate(games[0]):
        state = game_wrapper.load_game().new_initial_state()
        for roll, (mover, dice, after) in enumerate(zip(record.mover, record.dice, record.after, strict=True)):
            starter = (int(mover) ^ record.game % 2) if roll == 0 else None
            nodes.append((row, roll, state.clone(), game_wrapper.chance_action(dice, starter), record.game % 2))
            game_wrapper.apply_roll(state, dice, starter)
            game_wrapper.play_turn(state, after)
    return nodes


def spread(nodes, count):
    """``count`` of the nodes, opening rolls left out, evenly over all stages of the games."""
    later = [node for node in nodes if node[1] > 0]
    return [later[i] for i in np.linspace(0, len(later) - 1, count).astype(int)]


def test_luck_sums_to_zero_over_every_outcome_of_200_positions(chance_nodes):
    boards = np.array([game_wrapper.view(node[2]).board for node in spread(chance_nodes, 200)])
    opening = np.zeros(21 * 200, bool)
    terms, mean = luck.luck_of(np.repeat(boards, 21, axis=0), np.tile(ROLLS, (200, 1)), opening)
    sums = (terms.reshape(200, 21) * EXACT_PROBS).sum(axis=1)
    assert np.abs(sums).max() < 1e-9
    assert terms.std() > 0.1
    assert np.ptp(mean) > 1
    for _, _, state, _, _ in spread(chance_nodes, 200):
        sides = []
        for player in (0, 1):
            actions, probs, values = luck.pre_roll_values(state, player)
            assert len(actions) == 36
            assert abs(probs.sum() - 1) < 1e-12
            assert abs(probs @ (values - probs @ values)) < 1e-9
            sides.append(values)
        assert (sides[0] == -sides[1]).all()


def test_pre_roll_luck_sums_to_zero_from_both_sides(chance_nodes):
    for _, _, state, _, _ in spread(chance_nodes, 4):
        for player in (0, 1):
            total = sum(prob * luck.pre_roll_luck(state, action, player)[0] for action, prob in state.chance_outcomes())
            assert abs(total) < 1e-9


def test_the_opening():
    state = game_wrapper.load_game().new_initial_state()
    actions, probs, values = luck.pre_roll_values(state, 0)
    assert len(actions) == 30
    assert abs(probs @ values) < 1e-12
    assert luck.pre_roll_luck(state, 7, 1)[1] == pytest.approx(0, abs=1e-12)
    by_roll = luck.roll_value_table(START)
    ranked = sorted((roll for roll in by_roll if roll[0] != roll[1]), key=by_roll.__getitem__, reverse=True)
    assert ranked[:3] == [(1, 3), (2, 4), (1, 6)]
    known = {(1, 3): 0.160, (2, 4): 0.114, (1, 6): 0.091, (1, 5): 0.001, (1, 4): -0.003, (1, 2): -0.006}
    assert {roll: round(by_roll[roll], 3) for roll in known} == pytest.approx(known, abs=0.0011)
    assert np.mean([by_roll[roll] for roll in ranked]) == pytest.approx(0.0396, abs=2e-4)
    for action, value in zip(actions, values, strict=True):
        low, high = game_wrapper.CHANCE_ROLLS[action]
        assert value == by_roll[int(low), int(high)] * (1 if action % 2 == 0 else -1)


def test_the_sweep_equals_openspiels_moves(chance_nodes):
    seen_end, seen_dance = False, False
    late = [node for node in chance_nodes if node[1] > 0 and game_wrapper.view(node[2]).board[1].sum() <= 3][:4]
    assert late
    for _, _, state, _, _ in spread(chance_nodes, 10) + late:
        board = game_wrapper.view(state).board
        fast = luck.roll_value_table(board)
        for action in [*range(0, 30, 2), *range(30, 36)]:
            low, high = map(int, game_wrapper.CHANCE_ROLLS[action])
            slow = luck.python_roll_value(state, action)
            assert fast[low, high] == pytest.approx(slow, abs=2e-6)
            seen_end |= slow in (1.0, 2.0, 3.0)
        dance = -GnubgEngine(0).points(board[None, ::-1])[0]
        seen_dance |= any(value == pytest.approx(dance, abs=1e-6) for value in fast.values())
    assert seen_end
    assert seen_dance


def test_observer_adds_up_openspiels_luck(games, chance_nodes):
    records, _ = games
    observer = luck.LuckObserver(np.arange(8))
    players = (EnginePlayer(GnubgEngine(0)), EnginePlayer(RandomEngine(5)))
    result = play_games(players, np.arange(8), 12, observers=[observer])
    assert (result.points == games[1].points).all()
    for row in (0, 1):
        terms = [luck.pre_roll_luck(state, action, seat)[0] for r, _, state, action, seat in chance_nodes if r == row]
        assert len(terms) == len(records[row].mover)
        assert observer.luck[row] == pytest.approx(sum(terms), abs=1e-9)


def test_observer_takes_games_in_any_order_and_number_at_a_time():
    player = EnginePlayer(GnubgEngine(0))
    games = np.array([5, 2, 9])
    found = []
    for order, concurrent in ((games, 256), (games[::-1], 1)):
        observer = luck.LuckObserver(order)
        play_games((player, player), order, 3, observers=[observer], concurrent=concurrent)
        found.append(observer.luck)
    assert (found[0] == found[1][::-1]).all()


def test_roll_means_do_not_depend_on_company():
    boards = np.repeat(START[None], 3, 0)
    values = roll_values(boards)
    assert (luck.roll_means(values)[0] == luck.roll_means(values[:1])).all()
    assert luck.roll_means(values)[0] == pytest.approx(values[0] @ EXACT_PROBS, abs=1e-12)


def test_candidate_board_equity_reads_the_board_from_the_mover(chance_nodes):
    _, _, state, action, _ = spread(chance_nodes, 5)[2]
    board = game_wrapper.view(state).board
    child = state.child(action)
    assert luck.candidate_board_equity(child) == pytest.approx(GnubgEngine(0).points(board[None])[0], abs=1e-7)


def test_wrong_nodes_are_refused(chance_nodes):
    _, _, state, action, _ = chance_nodes[5]
    for call in (lambda s: luck.pre_roll_values(s, 0), lambda s: luck.python_roll_value(s, 0)):
        with pytest.raises(ValueError, match="not a chance node"):
            call(state.child(action))
    with pytest.raises(ValueError, match="chance action 36"):
        luck.pre_roll_luck(state, 36, 0)


@pytest.mark.parametrize("dice", [[0, 0], [0, 3], [7, 1], [-1, 1], [1.0, 2.0], ["a", "b"]], ids=str)
def test_dice_that_are_none_have_no_luck(dice):
    opening = np.zeros(1, bool)
    for call in (lambda: luck.luck_of(START[None], np.array([dice]), opening), lambda: luck.roll_index(np.array([dice]))):
        with pytest.raises(RaccoonError, match="dice"):
            call()
    with pytest.raises(RaccoonError, match="dice"):
        luck.luck_of(START[None], np.array([[3, 1], [3, 1]]), opening)


@pytest.mark.parametrize("slot", [0, 1])
def test_a_finished_game_has_no_luck(slot):
    boards = np.stack([START, START]).copy()
    boards[1, slot] = 0
    for call in (
        lambda: luck.luck_of(boards, np.array([[3, 1], [3, 1]]), np.zeros(2, bool)),
        lambda: roll_values(boards),
        lambda: roll_values(boards, 1),
    ):
        with pytest.raises(RaccoonError, match="row 1 is a finished game"):
            call()

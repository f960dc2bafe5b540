from __future__ import annotations

import re

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.env.board import START, swap
from raccoon.env.game_wrapper import (
    CHANCE_ROLLS,
    OPENING_OUTCOMES,
    apply_roll,
    chance_action,
    load_game,
    play_turn,
    random_playout,
    turn_results,
    view,
)
from raccoon.env.movegen import ROLL_PROBS, ROLLS


def test_chance_table_is_that_of_openspiels_labels_at_both_nodes() -> None:
    state = load_game().new_initial_state()
    outcomes = state.chance_outcomes()
    assert len(outcomes) == OPENING_OUTCOMES
    for action, probability in outcomes:
        label = state.action_to_string(action)
        rolled = re.search(r"([XO]) starts, \(roll: (\d)(\d)\)", label)
        assert rolled is not None
        dice = int(rolled[2]), int(rolled[3])
        assert probability == pytest.approx(1 / 30)
        assert sorted(dice) == CHANCE_ROLLS[action].tolist()
        assert chance_action(dice, "XO".index(rolled[1])) == action
    apply_roll(state, (3, 1), 0)
    play_turn(state, turn_results(state)[0])
    outcomes = state.chance_outcomes()
    assert len(outcomes) == len(CHANCE_ROLLS)
    total = np.zeros(21)
    for action, probability in outcomes:
        rolled = re.search(r"roll: (\d)(\d)\)", state.action_to_string(action))
        assert rolled is not None
        assert sorted(map(int, rolled.groups())) == CHANCE_ROLLS[action].tolist()
        total[np.flatnonzero((CHANCE_ROLLS[action] == ROLLS).all(axis=1))] += probability
    assert total == pytest.approx(ROLL_PROBS)


def test_views_of_the_first_turns() -> None:
    for starter in (0, 1):
        state = load_game().new_initial_state()
        first = view(state)
        assert (first.player, first.dice, first.mid_doubles) == (-1, None, False)
        assert np.array_equal(first.board, START)
        apply_roll(state, (6, 5), starter)
        here = view(state)
        assert (here.player, here.dice, here.mid_doubles) == (starter, (5, 6), False)
        child = turn_results(state)[-1]
        assert len(play_turn(state, child)) == 1
        assert np.array_equal(view(state).board, child)
        assert view(state).player == 1 - starter
        apply_roll(state, (2, 2))
        double = turn_results(state)[0]
        assert len(play_turn(state, double)) == 2
        assert np.array_equal(view(state).board, double)


def test_board_agrees_with_openspiels_accessor_in_random_play() -> None:
    rng = np.random.default_rng(8)
    for state in random_playout(rng):
        here = view(state)
        for slot, player in ((1, here.player), (0, 1 - here.player)):
            for point in range(1, 25):
                index = 24 - point if player == 0 else point - 1
                assert here.board[slot, point - 1] == state.board(player, index)
            assert here.board[slot, 24] == state.board(player, 100)


def test_a_game_is_replayed_from_its_boards() -> None:
    rng = np.random.default_rng(21)
    state = load_game().new_initial_state()
    record: list[tuple[tuple[int, int], np.ndarray]] = []
    starter = None
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(int(rng.choice([action for action, _ in state.chance_outcomes()])))
            starter = state.current_player() if starter is None else starter
            continue
        dice = view(state).dice
        assert dice is not None
        results = turn_results(state) if len(record) < 12 else None
        if results is None:
            while not state.is_terminal() and not state.is_chance_node():
                state.apply_action(int(rng.choice(state.legal_actions())))
        else:
            play_turn(state, results[rng.integers(len(results))])
        record.append((dice, view(state).board))
    copy = load_game().new_initial_state()
    for turn, (dice, child) in enumerate(record):
        apply_roll(copy, dice, starter if turn == 0 else None)
        play_turn(copy, child)
    assert copy.is_terminal()
    assert copy.returns() == state.returns()
    assert np.array_equal(view(copy).board, view(state).board)


def test_the_turn_cap_ends_a_game_for_nobody() -> None:
    *_, end = random_playout(np.random.default_rng(0), load_game(turn_cap=5))
    assert end.returns() == [0, 0]


def test_bad_input_is_named() -> None:
    state = load_game().new_initial_state()
    with pytest.raises(RaccoonError, match="names the player who starts"):
        apply_roll(state, (3, 1))
    with pytest.raises(RaccoonError, match="two different dice"):
        apply_roll(state, (3, 3), 0)
    with pytest.raises(RaccoonError, match=r"each die is 1\.\.6"):
        chance_action((0, 4))
    with pytest.raises(RaccoonError, match="not at a decision"):
        play_turn(state, START)
    apply_roll(state, (3, 1), 0)
    with pytest.raises(RaccoonError, match="not at a chance node"):
        apply_roll(state, (3, 1))
    with pytest.raises(RaccoonError, match=r"no legal play of \(1, 3\)"):
        play_turn(state, swap(START))

"""Dice: keyed by (seed, game, roll), uniform, and stratified openings that show everything equally often."""

import numpy as np
import pytest
from scipy import stats

from raccoon.contracts import RaccoonError
from raccoon.play import dice


def test_dice_do_not_depend_on_company():
    games, roll = np.arange(500), np.arange(500) % 40 + 1
    together = dice.rolls(3, games, roll)
    alone = np.concatenate([dice.rolls(3, games[i : i + 1], roll[i : i + 1]) for i in range(500)])
    assert (together == alone).all()
    assert (dice.rolls(4, games, roll) != together).any()


def test_rolls_are_uniform_over_36():
    games = np.repeat(np.arange(1000), 100)
    roll = np.tile(np.arange(1, 101), 1000)
    thrown = dice.rolls(1, games, roll)
    counts = np.bincount((thrown[:, 0] - 1) * 6 + thrown[:, 1] - 1, minlength=36)
    assert counts.size == 36
    assert stats.chisquare(counts).pvalue > 1e-4
    # successive rolls of a game are independent
    doubles = (thrown[:, 0] == thrown[:, 1]).reshape(1000, 100)
    assert abs(np.corrcoef(doubles[:, 1:].ravel(), doubles[:, :-1].ravel())[0, 1]) < 0.02


def test_random_openings_are_uniform_over_30():
    seat, thrown = dice.opening(1, np.arange(60_000))
    pair = (thrown[:, 0] - 1) * 6 + thrown[:, 1] - 1
    assert (thrown[:, 0] < thrown[:, 1]).all()
    _, counts = np.unique(pair * 2 + seat, return_counts=True)
    assert len(counts) == 30
    assert stats.chisquare(counts).pvalue > 1e-4


def test_stratified_openings_show_each_outcome_once_to_each_seating():
    games = np.arange(60, 180)
    seat, thrown = dice.opening(5, games, "stratified")
    starter = seat ^ games % 2
    for block in (slice(0, 60), slice(60, 120)):
        outcome = [(int(s), *map(int, d)) for s, d in zip(starter[block], thrown[block], strict=True)]
        assert sorted(outcome) == sorted([(s, *map(int, pair)) for s in (0, 1) for pair in dice.OPENING_PAIRS] * 2)
    assert (seat[0::2] == seat[1::2]).all()
    assert (thrown[0::2] == thrown[1::2]).all()
    assert (thrown[:60] != thrown[60:]).any()


def test_stratified_openings_do_not_depend_on_company():
    seat, thrown = dice.opening(5, np.arange(200), "stratified")
    some = np.array([150, 3, 77])
    seat_some, thrown_some = dice.opening(5, some, "stratified")
    assert (seat_some == seat[some]).all()
    assert (thrown_some == thrown[some]).all()


def test_unknown_mode_is_refused():
    with pytest.raises(RaccoonError, match="openings='even'"):
        dice.opening(1, np.arange(2), "even")

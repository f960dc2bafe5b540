"""Special positions: legal, of their kind, various, and a function of the seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.starts import KINDS, special_starts
from raccoon.env.board import is_race, swap, terminal_points, validate
from raccoon.env.position_ids import position_id


def both(kind: str, count: int = 400) -> np.ndarray:
    """Boards of a kind, and the same from the other side."""
    boards = special_starts(count, [kind], 7)
    return np.stack([boards, swap(boards)])


@pytest.mark.parametrize("kind", list(KINDS))
def test_boards_are_legal_unfinished_and_various(kind):
    boards = both(kind)[0]
    validate(boards)
    assert (terminal_points(boards) == 0).all()
    assert len(np.unique(boards, axis=0)) > 0.95 * len(boards)
    assert (np.sort(boards.sum(axis=2), axis=1)[:, 1] == 15).all()  # one side has all its checkers


def either(test: np.ndarray) -> np.ndarray:
    return np.asarray(test.any(axis=0))


def test_backgames_hold_two_points_in_the_other_home():
    views = both("backgame")
    assert either((views[:, :, 1, 18:24] >= 2).sum(axis=2) >= 2).all()


def test_containment_has_checkers_back_and_few_left_outside():
    views = both("containment")
    back = views[:, :, 1, 18:25].sum(axis=2)
    home = views[:, :, 1, :5].sum(axis=2)
    assert either((back >= 1) & (back <= 2) & (home + back == views[:, :, 1].sum(axis=2))).all()
    assert not is_race(views[0]).any()


def longest_run(side: np.ndarray) -> np.ndarray:
    best = run = np.zeros(side.shape[:-1], int)
    for point in range(24):
        run = np.where(side[..., point] >= 2, run + 1, 0)
        best = np.maximum(best, run)
    return best


def test_primes_are_four_points_or_more_with_somebody_behind():
    views = both("prime")
    assert either((longest_run(views[:, :, 0]) >= 4) & (views[:, :, 1, 18:25].sum(axis=2) >= 1)).all()


def test_bear_ins_have_an_anchor_or_the_bar_to_pass():
    views = both("bearin")
    assert either(((views[:, :, 1, 18:25] >= 2).sum(axis=2) == 1) & (views[:, :, 0, 18:].sum(axis=2) == 0)).all()
    assert not is_race(views[0]).any()


def test_seed_index_and_share():
    kinds = list(KINDS)
    assert (special_starts(40, kinds, 1, 3) == special_starts(40, kinds, 1, 3)).all()
    assert (special_starts(40, kinds, 1, 3) != special_starts(40, kinds, 1, 4)).any()
    assert (special_starts(40, kinds, 1, 3) != special_starts(40, kinds, 2, 3)).any()
    assert special_starts(0, kinds, 1).shape == (0, 2, 25)


@pytest.mark.parametrize("kinds", [[], ["backgames"], "prime"])
def test_unknown_kinds_are_named(kinds):
    with pytest.raises(RaccoonError, match=r"data\.kinds="):
        special_starts(3, kinds, 1)


def test_positions_of_a_seed_stay() -> None:
    found = {kind: [position_id(board) for board in special_starts(3, [kind], 7)] for kind in KINDS}
    assert found == {
        "backgame": ["4pXeAgBbkhLAJg", "cvTZAgBTJQaQMw", "gT1vAwASeRzAFg"],
        "containment": ["XQUAAqk95wQAAA", "3J1LAQD1DAAEAQ", "4bmtAgCZAAAwAA"],
        "prime": ["rdNsAEDZbZYEAA", "OrcaAUDSthsUAA", "zTxLAGCx21ESAA"],
        "bearin": ["za0LAAZ7eQMMAA", "t9nAKABXqw4ABg", "n+0CIQDVPQsAGA"],
    }

"""The chances of the next roll, against every legal play of every roll and against numbers found by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raccoon.env.board import START, swap
from raccoon.env.encoder import FEATURE_GROUPS, Encoder, encode
from raccoon.env.movegen import afterstates
from raccoon.testing import sample_boards

ROLLS = [(a, b) for a in range(1, 7) for b in range(a, 7)]
TACTICS = FEATURE_GROUPS["tactics"]


def tactics(boards: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of 36 rolls by my point 1..24, ``[N, 4, 24]``, and the four constants ``[N, 4]``."""
    planes = np.rint(encode(boards, channels=TACTICS) * 36).astype(np.int64)
    points = planes[:, :4].reshape(len(boards), 4, 24)
    return np.concatenate([points[:, :, 23:11:-1], points[:, :, :12]], axis=2), planes[:, 4:, 0, 0]


def board(mine: dict[int, int], theirs: dict[int, int]) -> NDArray[np.int8]:
    """Checkers by point, each side's numbers its own; 25 is the bar."""
    made = np.zeros((2, 25), np.int8)
    for side, points in ((1, mine), (0, theirs)):
        for point, count in points.items():
            made[side, point - 1] = count
    return made


def plays(boards: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By legal plays: rolls that can hit on each of my points ``[N, 24]``, and rolls that hit at all ``[N]``."""
    hits, any_hit = np.zeros((len(boards), 24), np.int64), np.zeros(len(boards), np.int64)
    for a, b in ROLLS:
        weight = 1 if a == b else 2
        children, offsets = afterstates(boards, np.full((len(boards), 2), (a, b), np.int8))
        for n in range(len(boards)):
            theirs = swap(children[offsets[n] : offsets[n + 1]])[:, 0]  # slot 0: the side that was not on roll
            gone = (boards[n, 0, :24] == 1) & (theirs[:, :24] == 0) & (theirs[:, 24:] > boards[n, 0, 24])
            hits[n] += weight * gone.any(axis=0)[::-1]
            any_hit[n] += weight * gone.any()
    return hits, any_hit


def test_shots_are_those_of_legal_plays() -> None:
    """Only plays that the rule of both dice forbids, and steps after the second checker from the bar, may differ."""
    boards = sample_boards(300)
    boards = boards[(boards[:, 1].sum(axis=1) > 0) & (boards[:, 0].sum(axis=1) > 0)]
    shots, constants = tactics(boards)
    hits, any_hit = plays(boards)
    assert (hits > 0).any(axis=1).mean() > 0.2
    free = boards[:, 1, 24] <= 1
    assert (hits[free] <= shots[free, 0]).all()
    assert (hits == shots[:, 0]).all(axis=1).mean() > 0.9
    assert (any_hit == constants[:, 0]).mean() > 0.9


def test_the_other_side_is_the_swapped_board() -> None:
    boards = sample_boards(200)
    points, constants = tactics(boards)
    swapped_points, swapped_constants = tactics(swap(boards))
    np.testing.assert_array_equal(points[:, [1, 0, 3, 2], ::-1], swapped_points)
    np.testing.assert_array_equal(constants[:, [1, 0, 3, 2]], swapped_constants)


@pytest.mark.parametrize(
    ("mine", "theirs", "point", "rolls"),
    [
        ({24: 1}, {2: 1}, 23, 11),  # one pip away, with nothing between: any 1
        ({24: 1}, {7: 1}, 18, 17),  # six away: any 6, 5-1, 4-2, 3-3, 2-2
        ({24: 1}, {13: 1}, 12, 3),  # twelve away: 6-6, 4-4 and 3-3
        ({24: 1}, {7: 1, 4: 2, 6: 2}, 18, 16),  # three and five away blocked: all 6s, 5-1 by way of 23, 4-2, 2-2
        ({25: 1, 20: 1}, {13: 1}, 12, 0),  # counted below
        ({25: 2, 13: 1}, {1: 2, 2: 1}, 23, 11),  # two on the bar: only entering with a 2
    ],
)
def test_shots_by_hand(mine: dict[int, int], theirs: dict[int, int], point: int, rolls: int) -> None:
    position = board(mine, theirs)[None]
    (points, _), (hits, _) = tactics(position), plays(position)
    if rolls:
        assert points[0, 0, point - 1] == rolls
    assert points[0, 0, point - 1] == hits[0, point - 1]


def test_entry_and_mobility_by_hand() -> None:
    closed = board({25: 1}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2})[None]
    open_board, two_points = board({25: 1}, {20: 2})[None], board({25: 1}, {1: 2, 2: 2, 3: 2, 4: 2})[None]
    assert [tactics(position)[1][0, 2] for position in (closed, two_points, open_board)] == [0, 20, 36]
    prime = board({24: 2}, {2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2})[None]
    assert tactics(prime)[0][0, 2, 23] == 0  # behind a full prime
    assert tactics(board({24: 2}, {3: 2})[None])[0][0, 2, 23] == 34  # 1-1 is blocked at its second step, 2-2 at its first
    assert tactics(START[None])[1][0].tolist() == [0, 0, 36, 36]


def test_an_encoder_of_before_reads_as_before() -> None:
    assert Encoder().channels == tuple(range(26))
    assert Encoder([*FEATURE_GROUPS]).flat_size == 310

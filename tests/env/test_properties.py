"""What holds for every board, over boards drawn at random."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raccoon.env import lookup, position_ids
from raccoon.env.board import is_race, pips, swap, terminal_points, validate
from raccoon.env.movegen import afterstates


@st.composite
def boards(draw: st.DrawFn, least: int = 0) -> np.ndarray:
    """One valid board; each side has ``least`` to 15 checkers."""
    out = np.zeros((2, 25), np.int8)
    for place in draw(st.lists(st.integers(0, 24), min_size=least, max_size=15)):
        out[1, place] += 1
    free = [place for place in range(25) if place == 24 or out[1, 23 - place] == 0]
    for place in draw(st.lists(st.sampled_from(free), min_size=least, max_size=15)):
        out[0, place] += 1
    return out


dice = st.tuples(st.integers(1, 6), st.integers(1, 6))
few = settings(max_examples=150, deadline=None)


some = boards().filter(np.any)


@few
@given(some)
def test_keys_and_ids_round_trip(board: np.ndarray) -> None:
    validate(board[None])
    assert np.array_equal(position_ids.from_position_key(position_ids.position_key(board)), board)
    assert np.array_equal(position_ids.from_position_id(position_ids.position_id(board)), board)


@few
@given(some, dice | st.none(), st.integers(0, 6), st.integers(-1, 1), st.sampled_from([1, -1]), st.integers(0, 4))
def test_xgids_round_trip(board: np.ndarray, roll: tuple[int, int] | None, cube: int, owner: int, turn: int, score: int) -> None:
    money = position_ids.Position(
        board, roll, 2**cube, owner * (cube > 0), (score, 1), jacoby=bool(cube & 1), beavers=bool(cube & 2), turn=turn
    )
    match = position_ids.Position(
        board, roll, 2 ** (cube * abs(owner)), owner * (cube > 0), (score, 1), match_length=5, crawford=score == 4, turn=turn
    )
    assert position_ids.from_xgid(position_ids.to_xgid(money)) == money
    assert position_ids.from_xgid(position_ids.to_xgid(match)) == match


@few
@given(boards())
def test_swap_is_an_involution(board: np.ndarray) -> None:
    other = swap(board[None])
    assert np.array_equal(swap(other)[0], board)
    assert pips(other)[0].tolist() == pips(board[None])[0].tolist()[::-1]
    assert is_race(other)[0] == is_race(board[None])[0]
    if board[0].any() or board[1].any():
        assert terminal_points(other)[0] == -terminal_points(board[None])[0]


@few
@given(boards())
def test_a_race_has_nothing_to_pass(board: np.ndarray) -> None:
    mine = np.flatnonzero(board[1]) + 1
    theirs = 25 - (np.flatnonzero(board[0]) + 1)
    contact = any(a >= b for a in mine for b in theirs)
    assert is_race(board[None])[0] == (not contact)


@few
@given(boards(least=1), dice)
def test_a_turn_moves_the_dice_and_hits_blots(board: np.ndarray, roll: tuple[int, int]) -> None:
    children, _ = afterstates(board[None], [roll])
    validate(children)
    total = 4 * roll[0] if roll[0] == roll[1] else sum(roll)
    before, after = pips(board[None])[0], pips(children)
    moved = before[1] - after[:, 0]
    assert (moved >= 0).all()
    assert (moved <= total).all()
    # all results of a roll use the same dice, so they differ in pips only where checkers bear off with a rest
    if not (children[:, 0].sum(axis=1) < board[1].sum()).any():
        assert len(set(moved.tolist())) == 1
    assert (children[:, 1].sum(axis=1) == board[0].sum()).all()
    hit = board[0, :24] - children[:, 1, :24]
    assert ((hit == 0) | ((hit == 1) & (board[0, :24] == 1))).all()
    assert (children[:, 1, 24] == board[0, 24] + hit.sum(axis=1)).all()


@few
@given(st.lists(boards(), max_size=30), st.randoms(use_true_random=False))
def test_unique_boards_is_numpys_unique(some: list[np.ndarray], random: object) -> None:
    batch = np.stack([*some, *some]) if some else np.zeros((0, 2, 25), np.int8)
    first, inverse = lookup.unique_boards(batch)
    assert len(first) == len(np.unique(position_ids.position_keys(batch), axis=0))
    assert np.array_equal(batch[first][inverse], batch)

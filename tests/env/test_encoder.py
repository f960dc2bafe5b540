"""The encoder against a slow second implementation, and its layouts, decoding and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raccoon.contracts import RaccoonError
from raccoon.env.board import START, is_race, swap
from raccoon.env.encoder import (
    CHANNEL_NAMES,
    FEATURE_GROUPS,
    FEATURE_SCALES,
    SPATIAL,
    Encoder,
    decode,
    dump_tensor,
    encode,
)
from raccoon.env.movegen import afterstates_all_rolls
from raccoon.rng import generator


def scattered_boards(n: int, seed: int) -> NDArray[np.int8]:
    """Legal boards of every kind: on the bar, borne off, races, contact, a side with nothing left."""
    rng = generator(seed, "test boards")
    boards = np.zeros((n, 2, 25), np.int8)
    for board in boards:
        mine = rng.random(24) < rng.uniform(0.1, 0.9)
        if rng.random() < 0.3:
            mine = np.arange(24) < rng.integers(1, 24)
        for slot, free in ((1, mine), (0, ~mine[::-1])):
            points = np.flatnonzero(np.append(free, rng.random() < 0.3))
            if len(points):
                for point in rng.choice(points, rng.integers(0, 16)):
                    board[slot, point] += 1
    return boards


def slow_encode(board: list[list[int]], dice: tuple[int, int] | None, mid: bool) -> list[list[list[float]]]:
    """One board in plain Python on points 1..24 of the side on roll, written from the description of the planes."""
    me = {point: board[1][point - 1] for point in range(1, 25)}
    them = {25 - q: board[0][q - 1] for q in range(1, 25)}  # on my points
    my_bar, their_bar = board[1][24], board[0][24]

    def checkers(count: dict[int, int]) -> list[list[list[float]]]:
        planes = [[[0.0] * 12, [0.0] * 12] for _ in range(4)]
        for point, n in count.items():
            row, column = (0, point - 13) if point >= 13 else (1, 12 - point)
            for k in range(3):
                planes[k][row][column] = float(n > k)
            planes[3][row][column] = max(n - 3, 0) / 2
        return planes

    my_pips = sum(p * n for p, n in me.items()) + 25 * my_bar
    their_pips = sum((25 - p) * n for p, n in them.items()) + 25 * their_bar
    my_left, their_left = sum(me.values()) + my_bar, sum(them.values()) + their_bar
    contact = [0, 0]
    if my_left and their_left:
        # On my points my bar is 25 and theirs is 0; a checker has contact down to (up to) the other's rearmost one.
        their_rear = min(p for p, n in {0: their_bar, **them}.items() if n)
        my_rear = max(p for p, n in {25: my_bar, **me}.items() if n)
        goal, post = max(their_rear, 1), min(my_rear, 24)
        contact[0] = sum(n * max(0, p - goal + 1) for p, n in {25: my_bar, **me}.items())
        contact[1] = sum(n * max(0, post - p + 1) for p, n in {0: their_bar, **them}.items())
    first, second = dice or (0, 0)
    constants = [
        1.0,
        my_bar / 15,
        their_bar / 15,
        (15 - my_left) / 15,
        (15 - their_left) / 15,
        first / 6,
        second / 6,
        float(dice is not None and first == second),
        float(mid),
        my_pips / 167,
        their_pips / 167,
        my_pips / (my_pips + their_pips) if my_pips + their_pips else 0.5,
        sum(n == 1 for n in me.values()) / 15,
        sum(n == 1 for n in them.values()) / 15,
        sum(me[p] >= 2 for p in range(19, 25)) / 6,
        sum(them[p] >= 2 for p in range(1, 7)) / 6,
        contact[0] / 167,
        contact[1] / 167,
    ]
    return checkers(me) + checkers(them) + [[[c] * 12, [c] * 12] for c in constants]


@pytest.fixture(scope="module")
def positions() -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]:
    """1,000 boards with dice (every fourth before the roll) and mid-doubles flags on doubles."""
    boards = scattered_boards(700, seed=1)
    real = afterstates_all_rolls(afterstates_all_rolls(START[None])[0][::9])[0]
    boards = np.concatenate([boards, real[generator(2, "pick").choice(len(real), 300, replace=False)]])
    rng = generator(3, "dice")
    dice = rng.integers(1, 7, (1000, 2)).astype(np.int8)
    dice[::4] = 0
    return boards, dice, (dice[:, 0] == dice[:, 1]) & (dice[:, 0] > 0) & (rng.random(1000) < 0.5)


def test_encoding_equals_the_slow_one(positions: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]) -> None:
    boards, dice, mid = positions
    assert boards[:, 1, 24].any()
    assert (boards[:, 0, 24] > 1).any()
    assert mid.any()
    assert (boards.sum(axis=2) == 0).any()
    expected = np.array(
        [
            slow_encode(board.tolist(), None if not roll[0] else (int(roll[0]), int(roll[1])), bool(half))
            for board, roll, half in zip(boards, dice, mid, strict=True)
        ],
        np.float32,
    )
    np.testing.assert_array_equal(encode(boards, dice, mid), expected)


def test_without_dice_the_dice_planes_are_empty() -> None:
    planes = encode(START[None])
    assert not planes[0, 13:17].any()
    np.testing.assert_array_equal(planes, encode(START[None], np.zeros((1, 2), int), np.zeros(1, bool)))


def test_flat_form_is_the_planes_without_repeats(positions: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]) -> None:
    boards, dice, mid = positions
    for encoder in (Encoder(), Encoder([]), Encoder(["contact"]), Encoder(normalize=False)):
        planes, flat = encoder.encode(boards, dice, mid), encoder.encode_flat(boards, dice, mid)
        cells = planes.reshape(len(boards), encoder.n_channels, 24)
        parts = [cells[:, k] if c < SPATIAL else cells[:, k, :1] for k, c in enumerate(encoder.channels)]
        np.testing.assert_array_equal(flat, np.concatenate(parts, axis=1))
        assert flat.shape == (len(boards), encoder.flat_size)
        assert (cells[:, SPATIAL:] == cells[:, SPATIAL:, :1]).all()
    assert (Encoder([]).flat_size, Encoder().flat_size) == (201, 210)


def test_decode_gives_the_boards_back(positions: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]) -> None:
    boards, dice, mid = positions
    np.testing.assert_array_equal(decode(encode(boards, dice, mid)), boards)
    np.testing.assert_array_equal(decode(Encoder([]).encode(boards)), boards)
    with pytest.raises(RaccoonError, match="base channels"):
        decode(encode(boards[:2], channels=[0, 1]))


def test_swapping_sides_swaps_the_planes(positions: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]) -> None:
    boards = positions[0]
    planes, swapped = encode(boards), encode(swap(boards))
    mine, theirs = [0, 1, 2, 3, 9, 11, 17, 20, 22, 24], [4, 5, 6, 7, 10, 12, 18, 21, 23, 25]
    np.testing.assert_array_equal(planes[:, mine], swapped[:, theirs][:, :, ::-1])  # their point q is my 25 - q: other row


def test_contact_is_zero_exactly_in_races(positions: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.bool_]]) -> None:
    boards = positions[0]
    contact = encode(boards, channels=[24, 25], normalize=False)[:, :, 0, 0]
    race = is_race(boards)
    assert race.any()
    assert not race.all()
    np.testing.assert_array_equal((contact == 0).all(axis=1), race)
    np.testing.assert_array_equal(contact[:, 0] == 0, contact[:, 1] == 0)


def test_start_position_by_hand() -> None:
    values = encode(START[None], normalize=False)[0, :, 0, 0]
    assert values[17:].tolist() == [167, 167, 0.5, 0, 0, 1, 1, 167, 167]
    normal = encode(START[None])[0, :, 0, 0]
    np.testing.assert_array_equal(normal[17:], (values[17:] / np.array([FEATURE_SCALES[c] for c in range(17, 26)], np.float32)))


def test_channel_registry() -> None:
    assert len(CHANNEL_NAMES) == len(set(CHANNEL_NAMES)) == 34
    assert CHANNEL_NAMES[9] == "my bar / 15"
    assert sorted(c for group in FEATURE_GROUPS.values() for c in group) == list(range(34))
    for channel, scale in FEATURE_SCALES.items():
        assert scale == 1 or CHANNEL_NAMES[channel].endswith(f"/ {scale:g}")
    np.testing.assert_array_equal(encode(START[None], channels=[24, 3]), encode(START[None])[:, [24, 3]])


def test_encoder_choices_and_layouts() -> None:
    assert Encoder(["contact", "pip"]) == Encoder({"pip": True, "contact": True, "blots": False}) == Encoder(("base", "pip", "contact"))
    assert Encoder(["pip"]).channels == (*range(17), 17, 18, 19)
    layouts = [Encoder(), Encoder([]), Encoder(["pip"]), Encoder(["blots"]), Encoder(normalize=False), Encoder([], normalize=False)]
    assert len({encoder.layout_hash for encoder in layouts}) == len(layouts)
    for encoder in layouts:
        again = Encoder.from_config(encoder.to_config())
        assert again == encoder
        assert hash(again) == hash(encoder)
        assert again.layout_hash == encoder.layout_hash
        assert len(encoder.names) == encoder.n_channels
        assert encoder.layout_hash in encoder.describe()


def test_layout_hash_is_the_published_one() -> None:
    """Changing the layout must change this, and makes every checkpoint of before unreadable: do it on purpose only."""
    assert Encoder().layout_hash == "e4b0b82e4ccdc376"
    assert Encoder([*FEATURE_GROUPS]).layout_hash == "ddf726c8368aab62"


@pytest.mark.parametrize("features", [["pips"], {"luck": True}, "contacts"])
def test_unknown_group_is_refused(features: list[str] | dict[str, bool] | str) -> None:
    with pytest.raises(RaccoonError, match=r"encoder\.features.*choose from pip, blots, anchors, contact, tactics"):
        Encoder(features)


def test_bad_input_is_refused() -> None:
    boards = START[None]
    with pytest.raises(RaccoonError, match="shape"):
        encode(START)
    with pytest.raises(RaccoonError, match=r"dice \[7, 1\] of row 0"):
        encode(boards, np.array([[7, 1]]))
    with pytest.raises(RaccoonError, match=r"dice \[0, 1\]"):
        encode(boards, np.array([[0, 1]]))
    with pytest.raises(RaccoonError, match="dice of shape"):
        encode(boards, np.array([3, 1]))
    with pytest.raises(RaccoonError, match="mid_doubles"):
        encode(boards, None, np.zeros(2, bool), flat=True)
    with pytest.raises(RaccoonError, match="channels"):
        encode(boards, channels=[34])
    with pytest.raises(RaccoonError, match="unknown keys"):
        Encoder.from_config({"groups": ["pip"]})


def test_dump_names_every_plane() -> None:
    text = dump_tensor(encode(START[None], np.array([[3, 1]]))[0])
    assert all(f"{k:2d} {name}" in text for k, name in enumerate(CHANNEL_NAMES[:26]))
    assert "13 die 1 / 6: 0.5" in text
    assert "my bar" not in dump_tensor(encode(START[None], channels=[0])[0], channels=[0])
    with pytest.raises(RaccoonError, match="expected"):
        dump_tensor(encode(START[None])[0], channels=[0])


def test_no_boards_no_rows() -> None:
    assert Encoder().encode(np.zeros((0, 2, 25), np.int8)).shape == (0, 26, 2, 12)
    assert Encoder().encode_flat(np.zeros((0, 2, 25), np.int8)).shape == (0, 210)


def test_a_side_with_nothing_but_its_ace_point_or_its_bar_has_contact() -> None:
    boards = np.zeros((2, 2, 25), np.int8)
    boards[0, 1, 0], boards[0, 0, 24], boards[0, 0, 0] = 3, 2, 4
    boards[1, 1, 24], boards[1, 0, 0], boards[1, 0, 2] = 1, 2, 1
    expected = np.array([slow_encode(board.tolist(), None, False) for board in boards], np.float32)
    np.testing.assert_array_equal(encode(boards), expected)
    contact = encode(boards, channels=[24, 25], normalize=False)[:, :, 0, 0]
    # three checkers a pip from passing the bar, two on the bar two pips from passing the ace point
    assert contact[0].tolist() == [3.0, 4.0]
    assert (contact[1] > 0).all()

"""Golden lines of every random stream that published numbers hang on: dice, openings, held-out games, the order of rows.

Each value is written down and derived a second time below, by plain integers or by numpy's own parts. A change here changes
every arena, label set and training that was ever published: it needs a new name for the stream, not new numbers.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.data.label_sets.rows import ROW
from raccoon.data.sampler import RowOrder, held_out
from raccoon.data.selfplay.replay import ReplayWindow
from raccoon.play import dice

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def _mix(z: int) -> int:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    z &= _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _hash(seed: int, purpose: str, *index: int) -> int:
    """seed + golden, mixed; xor the CRC-32 of the purpose, + golden, mixed; then each index xored, times golden + golden, mixed."""
    state = _mix((_mix(seed + _GOLDEN) ^ zlib.crc32(purpose.encode())) + _GOLDEN)
    for part in index:
        state = _mix((state ^ part) * _GOLDEN + _GOLDEN)
    return state


def _below(value: int, n: int) -> int:
    return (value >> 32) * n >> 32


def _permutation(size: int, seed: int, purpose: str, *index: int) -> list[int]:
    """Philox seeded with (seed, CRC-32 of the purpose, number of indices, indices), and numpy's shuffle."""
    sequence = np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), len(index), *index])
    return np.random.Generator(np.random.Philox(sequence)).permutation(size).tolist()


@pytest.mark.parametrize(
    ("seed", "game", "text"),
    [
        (1, 0, "44 31 41 51 66 44 56 44 62 55 43 64"),
        (1, 5, "31 63 64 42 46 34 62 14 62 54 64 51"),
        (2026, 999_999, "66 55 24 46 36 42 43 42 41 54 52 52"),
    ],
)
def test_dice(seed: int, game: int, text: str) -> None:
    """Outcome: the upper half of the hash of ("dice", game, roll) scaled to 36; the dice are outcome // 6 + 1 and outcome % 6 + 1."""
    outcomes = [_below(_hash(seed, "dice", game, roll), 36) for roll in range(1, 13)]
    assert " ".join(f"{k // 6 + 1}{k % 6 + 1}" for k in outcomes) == text
    assert " ".join(f"{a}{b}" for a, b in dice.rolls(seed, np.full(12, game), np.arange(1, 13))) == text


_PAIRS = ["12", "13", "14", "15", "16", "23", "24", "25", "26", "34", "35", "36", "45", "46", "56"]


def _opening_text(outcomes: list[int]) -> str:
    return " ".join(f"{k % 2}:{_PAIRS[k // 2]}" for k in outcomes)


@pytest.mark.parametrize(
    ("seed", "mode", "text"),
    [
        (1, "random", "1:36 1:24 1:36 1:26 1:25 0:15 1:24 1:14 0:35 0:12 1:24 0:56"),
        (1, "stratified", "0:45 0:45 1:34 1:34 0:34 0:34 1:25 1:25 1:12 1:12 0:26 0:26"),
        (2026, "random", "0:56 0:12 1:23 1:23 1:23 0:25 0:13 1:35 1:16 1:16 1:26 0:46"),
        (2026, "stratified", "0:36 0:36 1:15 1:15 1:12 1:12 0:56 0:56 1:14 1:14 0:12 0:12"),
    ],
)
def test_openings(seed: int, mode: str, text: str) -> None:
    """Games 54 to 65, across the border of a stratum, as ``seat:dice``.

    Random: the hash of ("opening", game) scaled to 30. Stratified: the thirty outcomes by the hash of ("opening order", block of 60
    games, outcome), one for each two games.
    """
    games = range(54, 66)
    if mode == "random":
        outcomes = [_below(_hash(seed, "opening", game), 30) for game in games]
    else:
        orders = {block: sorted(range(30), key=lambda k: _hash(seed, "opening order", block, k)) for block in (0, 1)}
        outcomes = [orders[game // 60][game % 60 // 2] for game in games]
    assert _opening_text(outcomes) == text
    seat, thrown = dice.opening(seed, np.array(games), mode)
    assert " ".join(f"{s}:{a}{b}" for s, (a, b) in zip(seat, thrown, strict=True)) == text


def test_held_out_games() -> None:
    """A game is held out when the upper 53 bits of the hash of (0, "holdout", game) are below the share. Whatever the seed of the run."""
    golden = [5, 8, 13, 24, 42, 56, 82, 186, 192, 194]
    assert [game for game in range(200) if (_hash(0, "holdout", game) >> 11) / 2**53 < 0.05] == golden
    assert np.flatnonzero(held_out(np.arange(200), 0.05)).tolist() == golden
    golden = [82, 388, 439, 593, 840, 848, 1253, 1289, 1295, 1299, 1583, 1628, 1998]
    assert np.flatnonzero(held_out(np.arange(2000), 0.005)).tolist() == golden


class _Shards:
    """Two shards in memory; the row number is in ``turn``, three rows a game."""

    folder, meta, indices, dtype = Path("memory"), {"format": "raccoon-positions"}, (0, 1), ROW

    def __len__(self) -> int:
        return 24

    def shard(self, i: int) -> Any:
        rows = np.zeros(12, ROW)
        rows["turn"] = np.arange(12) + 12 * i
        rows["game"] = rows["turn"] // 3
        return rows


@pytest.mark.parametrize(
    ("epoch", "golden"),
    [
        (0, [[21, 23, 14, 22, 20, 13, 12], [9, 8, 10, 6, 7, 5, 4, 11], [18, 2, 0, 3, 19, 1]]),
        (3, [[20, 21, 22, 23, 19, 18], [2, 1, 13, 0, 12, 14, 3], [11, 4, 8, 5, 6, 10, 9, 7]]),
    ],
)
def test_order_of_rows(epoch: int, golden: list[list[int]]) -> None:
    """Blocks of 4 rows shuffled by ("block order", epoch), two to a window, held-out games 5 left out, and the rest of a window
    shuffled by ("window order", epoch, window)."""
    order = RowOrder([_Shards()], seed=7, holdout=0.05, held_limit=9, block=4, window=8)  # type: ignore[list-item]
    assert order.held["turn"].tolist() == [15, 16, 17]
    blocks, derived = _permutation(6, 7, "block order", epoch), []
    for window in range(3):
        rows = [row for block in blocks[2 * window : 2 * window + 2] for row in range(4 * block, 4 * block + 4) if row // 3 != 5]
        derived.append([rows[i] for i in _permutation(len(rows), 7, "window order", epoch, window)])
    order.set_epoch(epoch)
    found = [window["turn"].tolist() for window in order.windows()]
    assert found == golden
    assert derived == golden


def test_draws_from_the_replay_window() -> None:
    """Permutations of ("replay order", epoch), one after another, each of the rows that are not held out."""
    window = ReplayWindow(size=8, held_size=8, holdout=0.05)
    rows = np.zeros(12, ROW)
    rows["turn"] = np.arange(12)
    window.add(rows)  # game 0 is not held out: the newest 8 rows stay
    golden = [5, 9, 4, 11, 6, 8, 7, 10, 9, 11, 6]
    stream = np.random.Generator(np.random.Philox(np.random.SeedSequence([7, zlib.crc32(b"replay order"), 1, 2])))
    assert [4 + i for i in [*stream.permutation(8), *stream.permutation(8)[:3]]] == golden
    assert window.draw(11, seed=7, epoch=2)["turn"].tolist() == golden

"""Random streams: independent of batching, uniform, and without global state."""

import numpy as np
import pytest
from scipy import stats

from raccoon.rng import generator, hash64, torch_seed


def test_hash64_is_the_splitmix64_finaliser_chain() -> None:
    # First outputs of the published splitmix64 reference with seed 0: mix(golden), mix(2 * golden).
    def reference(state: int) -> int:
        mask = 2**64 - 1
        z = state & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    assert reference(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF  # the reference itself against the published value
    import zlib

    golden = 0x9E3779B97F4A7C15
    state = reference((7 + golden) & (2**64 - 1))
    state = reference(((state ^ zlib.crc32(b"dice")) + golden) & (2**64 - 1))
    for part in (3, 11):
        state = reference((((state ^ part) * golden) + golden) & (2**64 - 1))
    assert int(hash64(7, "dice", 3, 11)[0]) == state


def test_a_number_depends_on_its_key_alone() -> None:
    games = np.arange(1000)
    whole = hash64(5, "dice", games, 4)
    assert np.array_equal(whole[::-7], hash64(5, "dice", games[::-7], 4))
    assert hash64(5, "dice", 17, 4)[0] == whole[17]
    for other in (hash64(6, "dice", games, 4), hash64(5, "opening", games, 4), hash64(5, "dice", games, 5)):
        assert not np.any(other == whole)


@pytest.mark.parametrize("purpose", ["dice", "opening"])
def test_the_36_rolls_are_uniform_and_neighbours_independent(purpose: str) -> None:
    n = 200_000
    by_game = hash64(1, purpose, np.arange(n), 0) % np.uint64(36)
    by_roll = hash64(1, purpose, 0, np.arange(n)) % np.uint64(36)
    for draws in (by_game, by_roll):
        assert stats.chisquare(np.bincount(draws.astype(int), minlength=36)).pvalue > 1e-4
        pairs = (draws[:-1] * np.uint64(36) + draws[1:]).astype(int)
        assert stats.chisquare(np.bincount(pairs, minlength=1296)).pvalue > 1e-4


def test_generators_are_named_and_leave_the_global_state_alone() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    assert generator(1, "a").random() == generator(1, "a").random()
    assert len({generator(1, "a").random(), generator(1, "b").random(), generator(2, "a").random(), generator(1, "a", 0).random()}) == 4
    assert 0 <= torch_seed(-3, "init") < 2**63
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002

"""Named random streams from (seed, purpose, index). There is no global generator anywhere in Raccoon.

``hash64`` is counter based (a chain of splitmix64 finalisers, Steele et al. 2014): a number depends on nothing but
its own key, so results do not depend on batch size, worker count or the order in which things happen.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["GOLDEN", "MIX1", "MIX2", "below", "generator", "hash64", "torch_seed", "uniform"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX1 = np.uint64(0xBF58476D1CE4E5B9)
MIX2 = np.uint64(0x94D049BB133111EB)
"""Constants of splitmix64: its step, and the multipliers of its finaliser. Kernels that hash use them too."""


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * MIX1
        x = (x ^ (x >> np.uint64(27))) * MIX2
    return x ^ (x >> np.uint64(31))


def _purpose(purpose: str) -> int:
    return zlib.crc32(purpose.encode())


def hash64(seed: int, purpose: str, *index: ArrayLike) -> NDArray[np.uint64]:
    """``uint64`` of the broadcast shape of the ``index`` arrays (non-negative integers): one hash per key."""
    with np.errstate(over="ignore"):
        state = _mix(np.atleast_1d(np.uint64(seed % 2**64)) + GOLDEN)
        state = _mix((state ^ np.uint64(_purpose(purpose))) + GOLDEN)
        for part in index:
            state = _mix((state ^ np.atleast_1d(np.asarray(part)).astype(np.uint64)) * GOLDEN + GOLDEN)
    return state


def uniform(hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Hashes as numbers in [0, 1): their upper 53 bits, so that every value is exact."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(hashes: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Hashes scaled to 0..n-1 by the high product (bias below n / 2**32)."""
    return ((hashes >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)


def generator(seed: int, purpose: str, *index: int) -> np.random.Generator:
    """A numpy generator of its own for (seed, purpose, index)."""
    # SeedSequence pads with zeros, so [a] and [a, 0] are one seed: the number of indices goes in too.
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed % 2**64, _purpose(purpose), len(index), *index])))


def torch_seed(seed: int, purpose: str, *index: int) -> int:
    """A seed below 2**63 for a ``torch.Generator`` of its own."""
    return int(hash64(seed, purpose, *index)[0] >> np.uint64(1))

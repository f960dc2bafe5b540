"""What engines that run a network share: forward passes of few shapes, each distinct board once, positions remembered.

Results do not depend on how rows are batched. Linear-algebra kernels choose their code by the number of rows: below 16
rows other matrix kernels run, and vector code treats the last rows of an odd number by other instructions, so that the
last bits of a value change. Every forward pass therefore has a multiple of 32 rows (the last ones padded). On the CPU
the bits of a row are then the same in every batch; the tests check it for each kind of network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import whole
from raccoon.contracts import Boards, RaccoonError
from raccoon.engine.base import EngineBase
from raccoon.engine.network.cache import BoardCache
from raccoon.env.encoder import Encoder
from raccoon.env.half_moves import legal_mask, low_first
from raccoon.env.lookup import unique_boards

__all__ = ["BatchedEngine", "chunks"]

STEP, _COARSE = 32, 512
MOST = 4096
"""Rows of a forward pass on a CPU: more are no faster, and threads would split vector code at odd places."""


def chunks(rows: int, batch: int, step: int = STEP) -> Iterator[tuple[int, int, int]]:
    """``(start, stop, padded)`` of the forward passes over ``rows``: at most ``batch`` rows, padded to a multiple of ``step``.

    Few distinct shapes (the libraries prepare their kernels once a shape): full batches, then a multiple of 512, then
    the rest.
    """
    start = 0
    while start < rows:
        left = rows - start
        size = batch if left >= batch else left // _COARSE * _COARSE or left
        yield start, start + size, -(-size // step) * step
        start += size


class BatchedEngine(EngineBase, ABC):
    """Base of engines that run a network on ``encoder``'s numbers. A subclass defines ``_forward`` and ``_policy``.

    ``batch_size``: most rows of a forward pass, rounded up to a multiple of ``step``, at most ``most`` where given. ``cache``: positions
    to remember between calls, 0 for none. ``rows`` counts what the network evaluated, without repeats and remembered positions.
    """

    def __init__(
        self,
        name: str,
        encoder: Encoder,
        has_probs: bool,
        has_policy: bool,
        batch_size: int,
        cache: int,
        step: int = STEP,
        most: int | None = MOST,
    ) -> None:
        super().__init__(name)
        whole("engine.batch_size", batch_size, 1)
        self.encoder = encoder
        self.has_probs = has_probs
        self.has_policy = has_policy
        self.rows = 0
        self._step = step
        self._batch = -(-(batch_size if most is None else min(batch_size, most)) // step) * step
        self._width = 7 if has_probs else 1
        self._cache = BoardCache(cache, self._width) if cache else None

    def policy(self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """``float32[N, 1352]``: probability of each legal half turn of the side on roll; illegal ones are exactly 0.

        ``boards`` as they stand, ``dice int8[N, 2]`` in either order (the network is shown the lower first); ``mid_doubles bool[N]``:
        the first half of a double has been played. Raises RaccoonError when the network has no policy head.
        """
        if not self.has_policy:
            raise RaccoonError(f"engine {self.name}: this network has no policy head; use one that has (model.policy=true)")
        mask = legal_mask(boards, dice, mid_doubles)
        dice = low_first(dice)
        mid = np.zeros(len(boards), bool) if mid_doubles is None else mid_doubles
        self.evaluations += len(boards)
        out = np.zeros(mask.shape, np.float32)
        for start, stop, padded in chunks(len(boards), self._batch, self._step):
            picked = np.minimum(np.arange(start, start + padded), stop - 1)
            out[start:stop] = self._policy(boards[picked], dice[picked], mid[picked], mask[picked])[: stop - start]
        return out

    @abstractmethod
    def _forward(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N, width]``: value (equity / 3) of each board and, with ``has_probs``, its six probabilities."""

    @abstractmethod
    def _policy(
        self, boards: Boards, dice: NDArray[np.int8], mid_doubles: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """``float32[N, 1352]``: as ``policy``, dice with the lower first, legal half turns by ``mask``; asked only with ``has_policy``."""

    def _value(self, live: Boards) -> NDArray[np.float32]:
        return self._numbers(live)[:, 0]

    def _probs6(self, live: Boards) -> NDArray[np.float32]:
        return self._numbers(live)[:, 1:]

    def _numbers(self, boards: Boards) -> NDArray[np.float32]:
        """``float32[N, width]``: the value and, where known, the six probabilities; each distinct board evaluated once."""
        first, inverse = unique_boards(boards)
        if len(first) < len(boards):
            return self._distinct(boards[first])[inverse]
        return self._distinct(boards)

    def _distinct(self, boards: Boards) -> NDArray[np.float32]:
        if self._cache is None:
            return self._run(boards)
        numbers, known = self._cache.get(boards)
        missing = np.flatnonzero(~known)
        if len(missing):
            fresh = self._run(boards[missing])
            self._cache.put(boards[missing], fresh)
            numbers[missing] = fresh
        return numbers

    def _run(self, boards: Boards) -> NDArray[np.float32]:
        self.rows += len(boards)
        out = np.empty((len(boards), self._width), np.float32)
        for start, stop, padded in chunks(len(boards), self._batch, self._step):
            part = boards[start:stop]
            if padded > len(part):
                part = np.concatenate([part, np.broadcast_to(part[:1], (padded - len(part), 2, 25))])
            out[start:stop] = self._forward(part)[: stop - start]
        return out

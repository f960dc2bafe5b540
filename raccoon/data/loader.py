"""Batches of labelled positions for Lightning: no worker processes, one thread that reads ahead."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.policy_rows import DECISION_ROW, JointBatch, unpack_decisions
from raccoon.data.label_sets.rows import unpack6
from raccoon.data.sampler import RowOrder, same_turn

__all__ = ["Batch", "HeldOutLoader", "SiblingBatch", "TrainLoader", "unpacked"]


class SiblingBatch(NamedTuple):
    """Labelled positions and which of them are plays of one turn: ``siblings int64[N]``, equal numbers from 0."""

    boards: torch.Tensor
    probs6: torch.Tensor
    siblings: torch.Tensor


Batch = tuple[torch.Tensor, torch.Tensor] | SiblingBatch | JointBatch
"""Pre-roll boards ``int8[N, 2, 25]`` and outcome distribution ``float32[N, 6]`` of the side on roll; perhaps decisions as well."""

_END = object()


class TrainLoader:
    """Full batches of one epoch's rows; rank ``r`` of ``world`` processes takes every ``world``-th batch.

    ``sampler`` is the row order, whose ``set_epoch`` Lightning calls. ``state_dict`` counts the batches handed out, so
    that a run stopped in mid-epoch goes on with the next batch of the same order. The last rows that fill no batch on
    every rank are left out of the epoch. Raises RaccoonError when there is not one batch.
    """

    def __init__(self, order: RowOrder, batch_size: int, rank: int = 0, world: int = 1, prefetch: int = 8) -> None:
        self.sampler = order
        self.batch_size = batch_size
        self.rank = rank
        self.world = world
        self.prefetch = prefetch
        self._resume = (-1, 0)
        self._at = (0, 0)
        if len(self) < 1:
            raise RaccoonError(
                f"data.batch_size={batch_size}: the set has {len(order)} rows to train on, not one batch for {world} processes"
            )

    def __len__(self) -> int:
        """Batches an epoch on this rank."""
        return len(self.sampler) // (self.batch_size * self.world)

    def __iter__(self) -> Iterator[Batch]:
        epoch, skip = self.sampler.epoch, 0
        if self._resume[0] == epoch and self._resume[1] < len(self):
            skip = self._resume[1]
        self._resume = (-1, 0)
        batches = self._decoded(skip)
        for done, batch in enumerate(_ahead(batches, self.prefetch) if self.prefetch else batches, start=skip + 1):
            self._at = (epoch, done)
            yield batch

    def state_dict(self) -> dict[str, Any]:
        """Epoch and batches handed out; called by Lightning with every checkpoint."""
        return {"epoch": self._at[0], "batches": self._at[1]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on after the batches that ``state`` counts, if that epoch is the next one asked for."""
        self._resume = (int(state["epoch"]), int(state["batches"]))
        self._at = self._resume

    def _decoded(self, skip: int) -> Iterator[Batch]:
        first, last = skip * self.world + self.rank, len(self) * self.world
        for number, rows in enumerate(_cut(self.sampler.windows(), self.batch_size)):
            if number >= last:
                return
            if number >= first and number % self.world == self.rank:
                batch = unpacked(rows)
                yield SiblingBatch(batch[0], batch[1], torch.from_numpy(same_turn(rows))) if self.sampler.siblings else batch


class HeldOutLoader:
    """The held-out rows in a fixed order, every rank its own part; the last batch may be short."""

    def __init__(self, rows: NDArray[np.void], batch_size: int, rank: int = 0, world: int = 1) -> None:
        self.rows = rows[rank::world]
        self.batch_size = batch_size

    def __len__(self) -> int:
        return -(-len(self.rows) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        for start in range(0, len(self.rows), self.batch_size):
            yield unpacked(self.rows[start : start + self.batch_size])


def unpacked(rows: NDArray[np.void]) -> Batch:
    """The boards and targets of ``rows`` as tensors; a ``JointBatch`` where they are decisions."""
    if rows.dtype == DECISION_ROW:
        return unpack_decisions(rows)
    boards, probs6 = unpack6(rows)
    return torch.from_numpy(boards), torch.from_numpy(probs6)


def _cut(windows: Iterator[NDArray[np.void]], size: int) -> Iterator[NDArray[np.void]]:
    """Full batches of the row stream, across the windows' borders."""
    rest: NDArray[np.void] | None = None
    for window in windows:
        rows = window if rest is None else np.concatenate([rest, window])
        whole = len(rows) // size * size
        for start in range(0, whole, size):
            yield rows[start : start + size]
        rest = rows[whole:].copy()


def _ahead(batches: Iterator[Batch], depth: int) -> Iterator[Batch]:
    """``batches``, made up to ``depth`` ahead in a thread; an error there is raised here, and leaving early stops it."""
    ready: queue.Queue[Any] = queue.Queue(depth)
    stop = threading.Event()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for batch in batches:
                if not put(batch):
                    return
            put(_END)
        except BaseException as error:  # handed to the consumer, which raises it
            put(error)

    thread = threading.Thread(target=work, name="raccoon-loader", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        thread.join()

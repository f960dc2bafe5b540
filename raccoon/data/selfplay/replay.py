"""The replay window: the newest positions of self-play with their targets, packed, and batches drawn from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from raccoon.data.label_sets.rows import ROW
from raccoon.data.loader import Batch, unpacked
from raccoon.data.sampler import held_out
from raccoon.rng import generator

__all__ = ["FreshLoader", "ReplayLoader", "ReplayWindow"]


class ReplayWindow:
    """``rows [<= size]`` to train on and ``held [<= held_size]`` of held-out games, each the newest ones, oldest first.

    ``row``: their dtype, ``ROW`` (28 bytes a position) or ``DECISION_ROW`` (123 bytes); ``state_dict`` holds them all.
    """

    def __init__(self, size: int, held_size: int, holdout: float, row: np.dtype[np.void] = ROW) -> None:
        self.size, self.held_size, self.holdout, self.row = size, held_size, holdout, row
        self.rows: NDArray[np.void] = np.empty(0, row)
        self.held: NDArray[np.void] = np.empty(0, row)

    def add(self, rows: NDArray[np.void]) -> None:
        """Take in ``rows`` (games together) and let the oldest ones go."""
        held = held_out(rows["game"], self.holdout)
        self.rows = np.concatenate([self.rows, rows[~held]])[-self.size :]
        self.held = np.concatenate([self.held, rows[held]])[-self.held_size :]

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Both parts as bytes."""
        return {name: torch.from_numpy(getattr(self, name).view(np.uint8).copy()) for name in ("rows", "held")}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Restore what ``state_dict`` gave."""
        self.rows, self.held = (state[name].cpu().numpy().view(self.row).copy() for name in ("rows", "held"))

    def draw(self, count: int, seed: int, epoch: int) -> NDArray[np.void]:
        """``[count]`` of ``rows`` at random: each once before any a second time."""
        rng, left, parts = generator(seed, "replay order", epoch), count, []
        while left > 0:
            parts.append(rng.permutation(len(self.rows))[:left])
            left -= len(parts[-1])
        return self.rows[np.concatenate(parts)]


class _Epochs:
    """What Lightning's ``set_epoch`` reaches."""

    def __init__(self) -> None:
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Note the epoch that comes."""
        self.epoch = epoch


class ReplayLoader:
    """``batches`` batches an epoch, drawn from ``window`` after ``play(epoch)`` has brought it up to date; rank ``r`` of ``world``
    processes takes every ``world``-th batch. ``state_dict`` counts batches, so that an epoch goes on where it was cut."""

    def __init__(
        self, window: ReplayWindow, play: Callable[[int], None], batches: int, batch_size: int, seed: int, rank: int = 0, world: int = 1
    ) -> None:
        self.sampler = _Epochs()
        self.window, self.play = window, play
        self.batches, self.batch_size, self.seed = batches, batch_size, seed
        self.rank, self.world = rank, world
        self._resume = (-1, 0)
        self._at = (0, 0)

    def __len__(self) -> int:
        """Batches an epoch on this rank."""
        return self.batches

    def __iter__(self) -> Iterator[Batch]:
        epoch = self.sampler.epoch
        skip = self._resume[1] if self._resume[0] == epoch and self._resume[1] < self.batches else 0
        self._resume = (-1, 0)
        self.play(epoch)
        rows = self.window.draw(self.batches * self.world * self.batch_size, self.seed, epoch)
        for batch in range(skip, self.batches):
            start = (batch * self.world + self.rank) * self.batch_size
            self._at = (epoch, batch + 1)
            yield unpacked(rows[start : start + self.batch_size])

    def state_dict(self) -> dict[str, Any]:
        """Epoch and batches handed out; called by Lightning with every checkpoint."""
        return {"epoch": self._at[0], "batches": self._at[1]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on after the batches that ``state`` counts."""
        self._at = self._resume = (int(state["epoch"]), int(state["batches"]))


class FreshLoader:
    """The held-out rows that ``window`` has when it is asked, every rank its own part. Of no length, for that changes."""

    def __init__(self, window: ReplayWindow, batch_size: int, rank: int = 0, world: int = 1) -> None:
        self.window, self.batch_size, self.rank, self.world = window, batch_size, rank, world

    def __iter__(self) -> Iterator[Batch]:
        rows = self.window.held[self.rank :: self.world]
        for start in range(0, len(rows), self.batch_size):
            yield unpacked(rows[start : start + self.batch_size])

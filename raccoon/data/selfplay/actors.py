"""Actors: the games of the next epoch are played and labelled while the learner trains on those of this one.

When the games of an epoch are in the window, the learner's weights are handed over, as bytes, to play those of the next: which
weights play which game follows from the epoch, not from who is how fast. A game and its label depend on nothing but weights, number
and settings, and the shards have one size, so that neither the number of actors nor what becomes of them changes a bit.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from numpy.typing import NDArray

from raccoon.config.instantiate import build
from raccoon.contracts import RaccoonError
from raccoon.data.contract import Labeller
from raccoon.executor import PersistentExecutor, ResultStream, Workers
from raccoon.model import checkpoint_file

__all__ = ["Actors", "play_shard"]


class Actors:
    """``workers`` of ``executor`` (None: as many as it has itself), each given ``shard_games`` games at a time.

    They build the trainer and the data from their config nodes, which ``raccoon.train.run`` leaves in the trainer's ``meta``.
    ``state_dict`` holds the weights that play the games under way: a continued run plays those games again.
    """

    def __init__(self, executor: PersistentExecutor, workers: int | None, shard_games: int) -> None:
        self.executor, self.workers, self.shard_games = executor, workers, shard_games
        self._weights, self._epoch = b"", -1  # what plays the games of which epoch
        self._started: ResultStream | None = None
        self._pool: Workers | None = None

    def hand_over(self, epoch: int, learner: Labeller) -> None:
        """Let the weights that ``learner`` has now play the games of ``epoch``."""
        self._weights, self._epoch, self._started = checkpoint_file.dumps(learner.best_net), epoch, None

    def begin(self, epoch: int, numbers: NDArray[np.int64], learner: Labeller) -> None:
        """Start on the games ``numbers`` of ``epoch``, unless they are under way, with the weights that were handed over for it; there
        are none before the first epoch, which ``learner``'s play."""
        if self._epoch != epoch:
            self.hand_over(epoch, learner)
        if self._started is not None:
            return
        if self._pool is None:
            self._pool = self.executor.open(self.workers)
        parts = range(0, len(numbers), self.shard_games)
        job = _nodes(learner) | {"weights": self._weights, "numbers": [numbers[at : at + self.shard_games] for at in parts]}
        self._started = self._pool.start(play_shard, job, range(len(parts)))

    def take(self, epoch: int, numbers: NDArray[np.int64], learner: Labeller) -> dict[str, NDArray[Any]]:
        """What ``SelfPlay.play_and_label`` gives of ``numbers``, and ``late float64``: the seconds that the learner had to wait for it."""
        began = time.perf_counter()
        self.begin(epoch, numbers, learner)
        assert self._started is not None
        found = dict(self._started)
        self._started = None
        parts = [found[index] for index in sorted(found)]
        made = {key: np.concatenate([part[key] for part in parts]) for key in parts[0] if key != "seconds"}
        made["seconds"] = np.sum([part["seconds"] for part in parts], axis=0)
        made["late"] = np.array(time.perf_counter() - began)
        return made

    def close(self) -> None:
        """End the workers, finished or not."""
        pool, self._pool, self._started = self._pool, None, None
        if pool is not None:
            pool.close()

    def state_dict(self) -> dict[str, Any]:
        """The epoch whose games are under way and the weights that play them."""
        return {"epoch": self._epoch, "weights": torch.from_numpy(np.frombuffer(self._weights, np.uint8).copy())}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what ``state_dict`` gave; nothing is played yet."""
        self._epoch, self._weights, self._started = int(state["epoch"]), state["weights"].cpu().numpy().tobytes(), None


def _nodes(learner: Any) -> dict[str, Any]:
    """Config nodes of the trainer and its data, for workers to build them from."""
    meta = getattr(learner, "meta", {})
    if "trainer" not in meta or "data" not in meta:
        raise RaccoonError("data.ahead=true: actors build the trainer from its config, and this one has none; train by raccoon.train.run")
    # in an actor the games are those of a data module without actors
    return {"trainer": meta["trainer"], "data": {**meta["data"], "ahead": False, "actors": None, "executor": None}}


def play_shard(job: Mapping[str, Any], index: int) -> dict[str, NDArray[Any]]:
    """One shard: the games ``job["numbers"][index]`` by the network ``job["weights"]``, on one thread of the CPU."""
    with _one_thread():
        learner = build(job["trainer"], "trainer", pl.LightningModule, net=checkpoint_file.loads(job["weights"]))
        return build(job["data"], "data", pl.LightningDataModule).play_and_label(learner, job["numbers"][index])


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

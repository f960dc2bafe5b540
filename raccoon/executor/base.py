"""What an executor is: something that runs shards, and perhaps keeps its workers from one lot of shards to the next."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from raccoon.contracts import RaccoonError
from raccoon.progress import Board, Meter, Work, reporting

__all__ = [
    "ONE_THREAD",
    "Executor",
    "InProcess",
    "PersistentExecutor",
    "ResultStream",
    "Shard",
    "Workers",
    "core_count",
    "metered",
    "one_thread",
    "worker_count",
]

Shard = Callable[[Mapping[str, Any], int], dict[str, Any]]
ResultStream = Iterator[tuple[int, dict[str, Any]]]
"""Shards that run already; iterating waits for ``(index, result)``, each index once and in any order."""
ONE_THREAD: dict[str, str] = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""The environment of a worker: two processes that each use all cores are slower than one."""
_MOST_WORKERS = 1024


class Executor(Protocol):
    """Runs shards in any order and yields ``(index, result)`` as each is done."""

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], work: Work) -> ResultStream:
        """Run ``shard(job, i)`` for each index; the progress says what ``work`` is and how much of it is done."""
        ...


class Workers(Protocol):
    """Workers that stay. Nothing is waited for until the results are asked for."""

    def start(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> ResultStream:
        """Begin ``shard(job, i)`` for each index and return at once. Iterating the answer raises what a shard raised, and
        RaccoonError when shards keep killing their worker."""
        ...

    def close(self) -> None:
        """End the workers; shards that still run are given up. Closing twice does nothing."""
        ...


@runtime_checkable
class PersistentExecutor(Executor, Protocol):
    """An ``Executor`` whose workers can be kept, for work that comes in many small lots beside something else."""

    def open(self, workers: int | None = None) -> Workers:
        """New workers: so many, 0 for this process, None for as many as the executor has itself."""
        ...


class InProcess:
    """``Workers`` that are this process: each shard runs when its result is asked for. ``board``: where shards say what they have done."""

    def __init__(self, board: Board | None = None) -> None:
        self.board = board

    def start(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> ResultStream:
        """See ``Workers.start``."""
        for place, index in enumerate(indices):
            with reporting(self.board, place):
                result = shard(job, index)
            yield index, result

    def close(self) -> None:
        """Nothing is held."""


def core_count() -> int:
    """Cores that this process may use, which can be fewer than the machine has. Asks what the system offers: macOS has no affinity."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def metered(results: ResultStream, work: Work, indices: Sequence[int], board: Board, enabled: bool = True) -> ResultStream:
    """``results`` of the shards ``indices``, their progress shown."""
    place = {index: at for at, index in enumerate(indices)}
    with Meter(work, indices, board, enabled) as meter:
        for index, result in results:
            meter.finish(place[index])
            yield index, result


def worker_count(workers: int | None) -> int | None:
    """``workers`` unless it is below 0 or beyond any machine. Raises RaccoonError."""
    if workers is not None and not 0 <= workers <= _MOST_WORKERS:
        raise RaccoonError(f"executor.workers={workers}: give 0 (this process) or more, {_MOST_WORKERS} at most")
    return workers


@contextlib.contextmanager
def one_thread(**more: str) -> Iterator[None]:
    """The environment for processes that start within, then the old one."""
    wanted = ONE_THREAD | more
    saved = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in saved.items():
            os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)

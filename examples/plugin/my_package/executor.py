"""Worker processes that are replaced now and then, so that memory which native code leaks is given back."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from raccoon.executor import Shard, Work
from raccoon.executor.base import metered

_ONE_THREAD: dict[str, str] = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Renewed:
    """``workers`` processes (0: this one), new ones after every ``shards`` shards a worker."""

    def __init__(self, workers: int = 2, shards: int = 20, progress: bool = True) -> None:
        self.workers = workers
        self.step = workers * shards
        self.progress = progress

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], work: Work) -> Iterator[tuple[int, dict[str, Any]]]:
        inline = ((index, shard(job, index)) for index in indices)
        results = self._renewed(shard, job, indices) if self.workers else inline
        yield from metered(results, work, indices, [0, 0] * len(indices), self.progress)

    def _renewed(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        context = multiprocessing.get_context("spawn")
        saved = dict(os.environ)
        for start in range(0, len(indices), self.step):
            os.environ.update(_ONE_THREAD)  # read by the workers when they start
            pool = ProcessPoolExecutor(self.workers, mp_context=context)
            try:
                running = {pool.submit(shard, dict(job), index): index for index in indices[start : start + self.step]}
                for done in as_completed(running):
                    yield running[done], done.result()
            finally:  # also when a shard or the caller fails
                pool.shutdown(cancel_futures=True)
                os.environ.clear()
                os.environ.update(saved)

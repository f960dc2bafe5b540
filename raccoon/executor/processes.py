"""``executor=processes``: worker processes of this machine."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from typing import Any

from raccoon.contracts import RaccoonError
from raccoon.executor.base import InProcess, ResultStream, Shard, Workers, core_count, metered, one_thread, worker_count
from raccoon.progress import Board, Work, reporting

__all__ = ["ProcessExecutor", "ProcessWorkers"]

_LOST_LIMIT = 3
_CONTEXT = multiprocessing.get_context("spawn")


class ProcessExecutor:
    """Local worker processes with one BLAS thread each. ``workers=0`` runs in this process (debugging, tests).

    ``workers=None`` takes one per core. ``progress`` shows a bar on a terminal.
    """

    local = True

    def __init__(self, workers: int | None = None, progress: bool = True) -> None:
        given = worker_count(workers)
        self.workers = core_count() if given is None else given
        self.progress = progress

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], work: Work) -> ResultStream:
        """See ``Executor.map``. Raises RaccoonError when the same shards keep killing their worker."""
        board: Board = _CONTEXT.RawArray("q", 2 * max(len(indices), 1))
        count = min(self.workers, len(indices))
        with contextlib.closing(ProcessWorkers(count, board) if count else InProcess(board)) as workers:
            yield from metered(workers.start(shard, job, indices), work, indices, board, self.progress)

    def open(self, workers: int | None = None) -> Workers:
        """See ``PersistentExecutor.open``. Processes start with the first shards."""
        count = self.workers if workers is None else workers
        return ProcessWorkers(count) if count else InProcess()


class ProcessWorkers:
    """``count`` processes, started as shards come and kept until ``close``; all are replaced when one dies.

    ``board``, which all share, is where the shards of the one lot that is started say what they have done.
    """

    def __init__(self, count: int, board: Board | None = None) -> None:
        self.count, self.board = count, board
        self._pool: ProcessPoolExecutor | None = None
        self._place: dict[int, int] = {}
        self._processes: set[Any] = set()
        self._running: set[futures.Future[dict[str, Any]]] = set()

    def start(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> ResultStream:
        """See ``Workers.start``."""
        self._place = {index: at for at, index in enumerate(indices)} if self.board is not None else {}
        pool, running = self._submit(shard, job, indices)
        return self._results(shard, job, pool, running)

    def close(self) -> None:
        """See ``Workers.close``."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if not all(future.done() for future in self._running):  # interrupted: nobody waits for the shards that run
            for process in self._processes:
                process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        self._processes, self._running = set(), set()

    def _submit(
        self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]
    ) -> tuple[ProcessPoolExecutor, dict[futures.Future[dict[str, Any]], int]]:
        """The pool that runs the shards, a new one after a worker has died, and which future is which shard."""
        for last in (False, True):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.count, _CONTEXT, _begin, (self.board,))
            before = set(multiprocessing.active_children())
            try:
                with one_thread(), _deaf_to_ctrl_c():  # processes that start now have the environment and the mask
                    running = {self._pool.submit(_run, shard, dict(job), index, self._place.get(index, 0)): index for index in indices}
            except BrokenProcessPool:
                self._pool = None
                if last:
                    raise
                continue
            self._processes |= set(multiprocessing.active_children()) - before
            self._running = {future for future in self._running if not future.done()} | set(running)
            return self._pool, running
        raise AssertionError("unreachable")

    def _results(
        self, shard: Shard, job: Mapping[str, Any], pool: ProcessPoolExecutor, running: dict[futures.Future[dict[str, Any]], int]
    ) -> ResultStream:
        lost = 0
        while running:
            waiting = list(running.values())
            try:
                for done in futures.as_completed(list(running)):
                    result = done.result()
                    waiting.remove(running[done])
                    lost = 0
                    yield running[done], result
                return
            except BrokenProcessPool as error:
                lost += 1
                if lost >= _LOST_LIMIT:
                    raise RaccoonError(
                        f"worker processes died {lost} times in a row while running shards {waiting[:8]}: "
                        "out of memory, or a crash in native code; run with executor.workers=0 to see where"
                    ) from error
            if self._pool is pool:  # unless other shards have noticed first
                self._pool = None
            pool, running = self._submit(shard, job, waiting)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal: one that is still starting would answer with a traceback. Here it is heard after."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_board: Board | None = None  # in a worker


def _begin(board: Board | None) -> None:
    """In a new worker."""
    global _board
    _board = board
    _end_with_parent()


def _run(shard: Shard, job: Mapping[str, Any], index: int, place: int) -> dict[str, Any]:
    """In a worker."""
    with reporting(_board, place):
        return shard(job, index)


def _end_with_parent() -> None:
    """In a worker: leave Ctrl-C to the process that started it, and leave as soon as that is gone, which SIGKILL gives no chance to say."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, name="raccoon-parent", daemon=True).start()

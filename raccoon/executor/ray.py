"""``executor=ray``: the same shards on a Ray cluster, or on a Ray of this machine alone."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raccoon.checks import whole
from raccoon.contracts import RaccoonError
from raccoon.executor.base import ONE_THREAD, InProcess, ResultStream, Shard, Workers, core_count, metered, one_thread, worker_count
from raccoon.progress import Work

__all__ = ["RayExecutor", "RayWorkers"]

_PATIENCE_S = 60.0


class RayExecutor:
    """Ray tasks of one CPU and one BLAS thread each. ``workers=0`` runs in this process (debugging, tests).

    ``address``: of a cluster (``auto``: the one that this machine belongs to); None starts a Ray of this machine, which ends with
    the program. ``workers``: most shards at a time, None for all CPUs there are. A shard whose worker died runs again,
    ``max_retries`` times at most. ``progress`` shows a bar on a terminal. The machines of a cluster need the same versions of
    Raccoon and of Ray, and the files that a job names. Raises RaccoonError when Ray is not installed.
    """

    def __init__(self, address: str | None = None, workers: int | None = None, max_retries: int = 2, progress: bool = True) -> None:
        self.address, self.workers, self.progress = address, worker_count(workers), progress
        self.max_retries = whole("executor.max_retries", max_retries, 0)
        if not _installed():
            raise RaccoonError("executor=ray: the package ray is not installed; pip install 'raccoon[ray]', or choose executor=processes")

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], work: Work) -> ResultStream:
        """See ``Executor.map``. Raises RaccoonError when a shard keeps killing its worker, or the cluster cannot be reached."""
        most = len(indices) if self.workers is None else min(self.workers, len(indices))
        board = [0, 0] * len(indices)  # shards on other machines are heard of when they are done
        with contextlib.closing(self.open(None if self.workers is None and most else most)) as workers:
            yield from metered(workers.start(shard, job, indices), work, indices, board, self.progress)

    def open(self, workers: int | None = None) -> Workers:
        """See ``PersistentExecutor.open``."""
        count = self.workers if workers is None else workers
        return InProcess() if count == 0 else RayWorkers(self.address, count, self.max_retries)


class RayWorkers:
    """``count`` CPUs of Ray (None: all), held until ``close``; Ray keeps the processes on them while they are wanted."""

    def __init__(self, address: str | None, count: int | None, max_retries: int) -> None:
        self.ray = _connected(address, count or 0)
        self.max_retries = max_retries
        self._held: Any = None
        self._running: dict[Any, int] = {}
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0}
        if count is not None:
            options["scheduling_strategy"] = self._hold(count)
        self._task = self.ray.remote(**options)(_run)

    def _hold(self, count: int) -> Any:
        """A claim to ``count`` CPUs, wherever they are. Raises RaccoonError when the cluster has not so many."""
        there = int(self.ray.cluster_resources().get("CPU", 0))
        if count > there:
            raise RaccoonError(
                f"executor.workers={count}: this Ray has {there} CPUs; give fewer (or data.actors), or null for all there are"
            )
        from_ray = importlib.import_module("ray.util")
        self._held = from_ray.placement_group([{"CPU": 1}] * count)
        if not self._held.wait(_PATIENCE_S):
            self.close()
            raise RaccoonError(
                f"executor=ray: no {count} CPUs became free in {_PATIENCE_S:.0f} s: other work holds them; give fewer workers"
            )
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        return strategies.PlacementGroupSchedulingStrategy(placement_group=self._held)

    def start(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> ResultStream:
        """See ``Workers.start``."""
        held = self.ray.put(dict(job))
        running = {self._task.remote(shard, held, index): index for index in indices}
        self._running |= running
        return self._results(shard, held, running)

    def close(self) -> None:
        """See ``Workers.close``."""
        running, self._running = self._running, {}
        for reference in running:
            self.ray.cancel(reference, force=True)
        held, self._held = self._held, None
        if held is not None:
            importlib.import_module("ray.util").remove_placement_group(held)

    def _results(self, shard: Shard, job: Any, running: dict[Any, int]) -> ResultStream:
        errors, deaths = self.ray.exceptions, dict.fromkeys(running.values(), 0)
        while running:
            (done,), _ = self.ray.wait(list(running), num_returns=1)
            index = running.pop(done)
            self._running.pop(done, None)
            try:
                result = self.ray.get(done)
            except errors.RayTaskError as error:
                raise error.cause from None
            except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError, errors.OutOfMemoryError) as error:
                deaths[index] += 1
                if deaths[index] > self.max_retries:
                    raise RaccoonError(
                        f"shard {index}: its worker died {deaths[index]} times: out of memory, or a crash in native code; "
                        "run with executor.workers=0 to see where"
                    ) from error
                again = self._task.remote(shard, job, index)
                running[again] = self._running[again] = index
                continue
            yield index, result


def _run(shard: Shard, job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """In a worker."""
    return shard(job, index)


_ADDRESS: list[str | None] = []  # of the Ray that this program has connected to, once it has


def _connected(address: str | None, least: int) -> Any:
    """The package, connected: once a program, for a Ray of one's own (of ``least`` CPUs, or one per core) takes seconds to start. One
    that somebody else connected is used."""
    ray = importlib.import_module("ray")
    if ray.is_initialized() and _ADDRESS in ([], [address]):
        return ray
    if ray.is_initialized():
        ray.shutdown()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody unless the user says so
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    logging.getLogger("ray").setLevel(logging.ERROR)
    if address is None:
        settings |= {"include_dashboard": False, "num_cpus": max(least, core_count())}
    else:
        settings |= {"address": address, "runtime_env": {"env_vars": ONE_THREAD}}
    with _own_signals(), one_thread():  # the processes of a Ray of one's own inherit the environment
        try:
            ray.init(**settings)
        except Exception as error:  # bare ones too, when it takes too long to start
            where = "cannot start on this machine" if address is None else f"cannot be reached at executor.address={address}"
            raise RaccoonError(f"executor=ray: Ray {where}: {' '.join(str(error).split())[:300]}") from error
    _ADDRESS[:] = [address]
    return ray


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself when it connects; this program has said already what it means."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _installed() -> bool:
    try:
        return importlib.util.find_spec("ray") is not None
    except ValueError:  # a module without a specification
        return False

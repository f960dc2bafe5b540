"""One way to run shards: ``shard(job, index) -> dict of arrays``, a pure function of (job, index).

``job`` is a plain, picklable dict (config and seed); the function lives at module level. A shard that was lost with
its worker is run again. Results are kept as ``.npz`` files, so that an interrupted run continues where it stopped.
"""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import hashlib
import json
import multiprocessing
import os
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from raccoon import assets
from raccoon.contracts import RaccoonError
from raccoon.files import read_json, write_arrays, write_json
from raccoon.versions import EVALUATORS, installed

__all__ = ["Executor", "ProcessExecutor", "Shard", "fingerprint", "run_shards"]

Shard = Callable[[Mapping[str, Any], int], dict[str, Any]]
_LOST_LIMIT = 3
_MOST_SHARDS = 10**6
_ONE_THREAD: dict[str, str] = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Executor(Protocol):
    """Runs shards in any order and yields ``(index, result)`` as each is done."""

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], label: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Run ``shard(job, i)`` for each index; a progress bar carries ``label``."""
        ...


class ProcessExecutor:
    """Local worker processes with one BLAS thread each. ``workers=0`` runs in this process (debugging, tests).

    ``workers=None`` takes one per core. ``progress`` shows a bar on a terminal.
    """

    def __init__(self, workers: int | None = None, progress: bool = True) -> None:
        if workers is not None and workers < 0:
            raise RaccoonError(f"executor.workers={workers}: give 0 (this process) or more")
        self.workers = len(os.sched_getaffinity(0)) if workers is None else workers
        self.progress = progress

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], label: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """See ``Executor.map``. Raises RaccoonError when the same shards keep killing their worker."""
        from raccoon.progress import track

        results = self._inline(shard, job, indices) if self.workers == 0 else self._pool(shard, job, indices)
        yield from track(results, total=len(indices), label=label, enabled=self.progress)

    @staticmethod
    def _inline(shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        for index in indices:
            yield index, shard(job, index)

    def _pool(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        waiting = list(indices)
        lost = 0
        while waiting:
            workers = min(self.workers, len(waiting))
            context = multiprocessing.get_context("spawn")
            saved = {key: os.environ.get(key) for key in _ONE_THREAD}
            os.environ.update(_ONE_THREAD)
            before = set(multiprocessing.active_children())
            pool = futures.ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
            finished = False
            try:
                running = {pool.submit(shard, dict(job), index): index for index in waiting}
                for done in futures.as_completed(running):
                    result = done.result()
                    waiting.remove(running[done])
                    lost = 0
                    yield running[done], result
                finished = True
            except BrokenProcessPool as error:
                lost += 1
                if lost >= _LOST_LIMIT:
                    raise RaccoonError(
                        f"worker processes died {lost} times in a row while running shards {waiting[:8]}: "
                        "out of memory, or a crash in native code; run with executor.workers=0 to see where"
                    ) from error
            finally:
                if not finished:  # interrupted: nobody waits for the shards that run
                    for process in set(multiprocessing.active_children()) - before:
                        process.terminate()
                pool.shutdown(wait=False, cancel_futures=True)
                for key, value in saved.items():
                    os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)


def _end_with_parent() -> None:
    """In a worker: leave Ctrl-C to the process that started it, and leave as soon as that is gone, which SIGKILL gives no chance to say."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, name="raccoon-parent", daemon=True).start()


def fingerprint(job: Mapping[str, Any]) -> str:
    """16 hex digits that name a job: its config, the content of the files it names, the versions of what computes it."""
    named = dict(_files(job))
    content = {"job": job, "versions": installed(*EVALUATORS), **({"files": named} if named else {})}
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _files(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Digests of the files that a config names: a checkpoint that was replaced makes it another job."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _files(value, str(name))
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _files(value, key)
    elif isinstance(node, str) and node:
        path = assets.folder() / assets.NETS[node] if key == "path" and node in assets.NETS else Path(node)
        with contextlib.suppress(OSError, ValueError):  # most strings name no file
            if path.is_file():
                with open(path, "rb") as handle:
                    yield node, hashlib.file_digest(handle, "sha256").hexdigest()


def run_shards(
    executor: Executor, shard: Shard, job: Mapping[str, Any], count: int, folder: Path, label: str
) -> list[dict[str, np.ndarray]]:
    """Results of shards ``0..count-1`` in order; those already in ``folder`` from the same job are read, not run.

    Raises RaccoonError when ``folder`` holds the shards of another job, or when there would be more than a million of them.
    """
    if count > _MOST_SHARDS:
        raise RaccoonError(f"{label}: {count:,} shards, {_MOST_SHARDS:,} are the most; ask for less, or for larger shards")
    stamp = folder / "job.json"
    mark = {"fingerprint": fingerprint(job), "shard": f"{shard.__module__}.{shard.__qualname__}"}
    if stamp.exists() and read_json(stamp) != mark:
        raise RaccoonError(f"{folder}: holds shards of another job; give this run its own folder (paths.run_dir=...)")
    write_json(stamp, mark)
    found: dict[int, dict[str, np.ndarray]] = {}
    for index in range(count):
        arrays = _read(folder / f"shard-{index:06d}.npz")
        if arrays is not None:
            found[index] = arrays
    names = {name for arrays in found.values() for name in arrays}
    found = {index: arrays for index, arrays in found.items() if names <= arrays.keys()}  # a damaged file can lose one unnoticed
    missing = [index for index in range(count) if index not in found]
    for index, result in executor.map(shard, job, missing, label):
        write_arrays(folder / f"shard-{index:06d}.npz", result)
        found[index] = {key: np.asarray(value) for key, value in result.items()}
    return [found[index] for index in range(count)]


def _read(path: Path) -> dict[str, np.ndarray] | None:
    try:
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        TypeError,
        RuntimeError,
    ):  # all that numpy says of damage
        return None

"""Shards kept on disk as ``.npz`` files under the fingerprint of their job, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from raccoon import assets
from raccoon.aliases import first, first_names
from raccoon.contracts import RaccoonError
from raccoon.executor.base import Executor, Shard
from raccoon.files import file_digest, read_json, write_json
from raccoon.files.npz import read_arrays, write_arrays
from raccoon.progress import Work
from raccoon.versions import computing

__all__ = ["check_folder", "check_units", "fingerprint", "remove_shards", "run_shards", "shard_size"]

_MOST_SHARDS = 10**6
_BUSY = 64  # workers that a job of any size has shards for
_STAMP = "job.json"
_OWN = re.compile(r"job\.json|shard-[0-9]{6}\.npz|\..+\.tmp")


def fingerprint(job: Mapping[str, Any]) -> str:
    """16 hex digits that name a job: its config, the content of the files it names, the versions of what computes it."""
    named = dict(_files(job))
    content = {"job": first_names(job), "versions": computing(), **({"files": named} if named else {})}
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
            yield node, file_digest(path)


def shard_size(units: int, most: int, least: int = 1) -> int:
    """How many of ``units`` a shard takes: ``most``, but fewer (``least``, for work that is quicker in batches) where there would be
    too few shards for many cores. Follows from the job alone, so that it is the same for any number of workers."""
    return max(1, min(most, max(least, -(-units // _BUSY))))


def check_units(key: str, units: int, size: int) -> None:
    """Raise RaccoonError naming ``key`` where ``units`` would be more than a million shards of ``size``."""
    if units > size * _MOST_SHARDS:
        raise RaccoonError(f"{key}={units}: {size * _MOST_SHARDS:,} is the most in shards of {size}")


def run_shards(
    executor: Executor, shard: Shard, job: Mapping[str, Any], count: int, folder: Path, work: Work
) -> list[dict[str, np.ndarray]]:
    """Results of shards ``0..count-1`` in order; those already in ``folder`` from the same job are read, not run.

    Raises RaccoonError when ``folder`` holds the shards of another job, or when there would be more than a million of them.
    """
    if count > _MOST_SHARDS:
        raise RaccoonError(f"{work.label}: {count:,} shards, {_MOST_SHARDS:,} are the most; ask for less, or for larger shards")
    stamp = folder / _STAMP
    mark = {"fingerprint": fingerprint(job), "shard": first(f"{shard.__module__}.{shard.__qualname__}")}
    if stamp.exists() and read_json(stamp) != mark:
        raise RaccoonError(
            f"{folder}: holds shards of another job, or of another version; resume=false starts anew (or name a folder: paths.run_dir=...)"
        )
    found: dict[int, dict[str, np.ndarray]] = {}
    for index in range(count):
        arrays = _read(folder / f"shard-{index:06d}.npz")
        if arrays is not None:
            found[index] = arrays
    names = {name for arrays in found.values() for name in arrays}
    found = {index: arrays for index, arrays in found.items() if names <= arrays.keys()}  # a damaged file can lose one unnoticed
    missing = [index for index in range(count) if index not in found]
    for index, result in executor.map(shard, job, missing, work):
        if not stamp.exists():  # with the first shard: a job that is refused leaves nothing
            write_json(stamp, mark)
        write_arrays(folder / f"shard-{index:06d}.npz", result)
        found[index] = {key: np.asarray(value) for key, value in result.items()}
    return [found[index] for index in range(count)]


def check_folder(folder: Path) -> None:
    """Raise RaccoonError where ``folder`` holds what ``run_shards`` does not write: it is somebody else's."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    foreign = (
        [name for name in names if not _OWN.fullmatch(name)]
        if _STAMP in names
        else [name for name in names if not name.startswith(f".{_STAMP}.")]
    )
    if foreign or (folder.exists() and not folder.is_dir()):
        raise RaccoonError(f"{folder}: is no folder of shards{f' (holds {foreign[0]})' if foreign else ''}; move it away")


def remove_shards(folder: Path) -> None:
    """Delete what ``run_shards`` wrote to ``folder``, and ``folder`` where nothing else is in it."""
    if not (folder / _STAMP).exists():
        return
    for path in sorted(folder.iterdir(), key=lambda path: path.name == _STAMP):  # the stamp goes last: it says whose the others are
        if _OWN.fullmatch(path.name):
            path.unlink()
    with contextlib.suppress(OSError):  # somebody put a file there meanwhile
        folder.rmdir()


def _read(path: Path) -> dict[str, np.ndarray] | None:
    try:
        return read_arrays(path)
    except RaccoonError:
        return None

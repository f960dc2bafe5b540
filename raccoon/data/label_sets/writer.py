"""Fills a set of shards: resumable, one writer, each shard written whole or not at all, cut short where time is up."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, quoted
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets import store as stores
from raccoon.executor import Executor, Shard, Work, fingerprint
from raccoon.files import atomic, write_json
from raccoon.files.locks import writing
from raccoon.versions import EVALUATORS, installed

__all__ = ["Plan", "Source", "check_minutes", "fill", "place", "prepare"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """How a set comes about: ``shard(job, index) -> {"rows": rows[n]}`` for ``count`` indices, of the dtype of ``format``.

    A shard of several ``parts`` is made by several workers: ``part(job, index * parts + i)`` gives rows for ``i`` below ``parts``, which
    ``join`` makes the rows of the shard ``index``. ``unit`` is what shards and parts report to the progress.

    ``identity`` names the rows (config, seeds, teacher; not where files lie, nor how many shards are wanted): the same
    identity gives the same shard ``i`` everywhere, and a set can be grown. ``about`` is copied into ``meta.json``.
    """

    identity: Mapping[str, Any]
    shard: Shard
    job: Mapping[str, Any]
    count: int
    label: str
    about: Mapping[str, Any] = field(default_factory=dict)
    format: str = stores.POSITIONS
    part: Shard | None = None
    parts: int = 1
    join: Callable[[Sequence[NDArray[np.void]]], NDArray[np.void]] = np.concatenate
    unit: str = "shards"

    @functools.cached_property
    def fingerprint(self) -> str:
        """16 hex digits of the identity and the versions of what computes it."""
        return fingerprint({"format": stores.VERSION, **self.identity})


class Source(Protocol):
    """A config node that knows how to make a set of labelled positions; ``name`` begins the folder's name."""

    name: str

    def plan(self) -> Plan:
        """Check the settings (RaccoonError names the bad one) and describe the work; cheap."""
        ...


def prepare(source: Source, data_dir: Path | str, executor: Executor, minutes: float | None = None) -> stores.PositionStore:
    """The set of ``source`` under ``data_dir/<name>-<fingerprint>``: opened when it is there, else made first.

    With ``minutes`` the whole set is taken where it is there; else one cut short is made, or taken, in a folder of its own (see ``fill``).
    """
    folder, count = place(source, data_dir, minutes)
    if (folder / stores.META).exists():
        meta = stores.read_meta(folder)
        if _is_cut(meta):
            return stores.PositionStore.open(folder)
        if _is_whole(meta, folder, count):
            return stores.PositionStore.open(folder, shards=count)  # nothing to do: the folder may be read-only
    return fill(source.plan(), folder, executor, minutes)


def place(source: Source, data_dir: Path | str, minutes: float | None = None) -> tuple[Path, int]:
    """The folder that ``prepare`` uses for a set, and how many shards the whole set has. Raises RaccoonError naming a bad key."""
    if not source.name or Path(source.name).name != source.name:
        raise RaccoonError(f"data.source.name={quoted(source.name)}: give a name without slashes; paths.data_dir says where sets lie")
    plan = source.plan()
    whole = Path(data_dir) / f"{source.name}-{plan.fingerprint}"
    if minutes is None:
        return whole, plan.count
    cut = whole.with_name(f"{whole.name}-{check_minutes(minutes):g}min")
    there = not (cut / stores.META).exists() and (whole / stores.META).exists() and _is_whole(stores.read_meta(whole), whole, plan.count)
    return (whole if there else cut), plan.count


def check_minutes(minutes: float) -> float:
    """``minutes`` unless they are no time. Raises RaccoonError."""
    return number("data.minutes", minutes, "a number above 0, or null", above=True)


def fill(plan: Plan, folder: Path | str, executor: Executor, minutes: float | None = None) -> stores.PositionStore:
    """Write the shards of ``plan`` that ``folder`` lacks and open the set.

    A run that was killed, even with SIGKILL, continues where it stopped and gives the same rows. Once shards have taken ``minutes``
    (None: no limit), those of all commands together, the set ends with the shards that are done, the first one at least: it is complete
    then for whoever opens it, and ``fill`` with ``minutes`` leaves it as it is. Raises RaccoonError
    when another process writes there, when the folder holds other data or a broken shard, or when the disk is full
    (what is written stays).
    """
    folder = Path(folder)
    limit = None if minutes is None else 60 * check_minutes(minutes)
    with writing(folder):
        shards = _finished(plan, folder)
        meta = stores.read_meta(folder) if (folder / stores.META).exists() else {}
        if not _is_cut(meta):
            _make(plan, folder, shards, executor, float(meta.get("seconds", 0.0)), limit)
        elif limit is None:
            raise RaccoonError(f"{folder}: is a set that was cut short; name another folder, or give data.minutes to take it as it is")
    return stores.PositionStore.open(folder, shards=min(plan.count, len(shards)))


def _make(plan: Plan, folder: Path, shards: dict[int, dict[str, Any]], executor: Executor, spent: float, limit: float | None) -> None:
    """Write what is missing of ``shards``, which earlier commands took ``spent`` seconds for, or as much as fits into ``limit``."""
    began = time.monotonic() - spent
    missing = [index for index in range(plan.count) if index not in shards]
    _write_meta(plan, folder, shards, spent)
    if missing:
        log.info("%s: %d of %d shards to do in %s", plan.label, len(missing), plan.count, folder)
    with contextlib.closing(_made(plan, missing, executor)) as made:
        while missing and not (limit is not None and time.monotonic() - began >= limit and 0 in shards):
            index, rows = next(made)
            shards[index] = _write_shard(folder, index, rows, plan.format)
            missing.remove(index)
            _write_meta(plan, folder, shards, time.monotonic() - began)
    if missing:
        _cut(plan, folder, shards, time.monotonic() - began)


def _cut(plan: Plan, folder: Path, shards: dict[int, dict[str, Any]], seconds: float) -> None:
    """End the set with its shards up to the first that is missing: it is what fewer shards of the plan would have been."""
    count = next(index for index in range(plan.count) if index not in shards)
    for index in [index for index in shards if index > count]:
        stores.shard_path(folder, index).unlink(missing_ok=True)
        del shards[index]
    _write_meta(plan, folder, shards, seconds, cut=True)
    log.info("%s: time is up after %d of %d shards", plan.label, count, plan.count)


def _is_cut(meta: Mapping[str, Any]) -> bool:
    return bool(meta.get("cut"))


def _is_whole(meta: Mapping[str, Any], folder: Path, count: int) -> bool:
    return all(str(index) in meta["shards"] and stores.shard_path(folder, index).exists() for index in range(count))


def _made(plan: Plan, missing: Sequence[int], executor: Executor) -> Generator[tuple[int, NDArray[np.void]], None, None]:
    """The rows of the missing shards, each as soon as its last part is there."""
    shard, parts = (plan.shard, 1) if plan.part is None else (plan.part, plan.parts)
    tasks = [index * parts + number for index in missing for number in range(parts)]
    waiting: dict[int, dict[int, NDArray[np.void]]] = {}
    for task, result in executor.map(shard, plan.job, tasks, Work(plan.label, plan.unit)):
        index, number = divmod(task, parts)
        found = waiting.setdefault(index, {})
        found[number] = np.asarray(result["rows"])
        if len(found) == parts:
            whole = [found[number] for number in range(parts)]
            del waiting[index]
            yield index, whole[0] if plan.part is None else plan.join(whole)


def _finished(plan: Plan, folder: Path) -> dict[int, dict[str, Any]]:
    """Shards already in ``folder`` that belong to ``plan`` and are whole."""
    if not (folder / stores.META).exists():
        if any(folder.glob("shard-*.npy")):
            raise RaccoonError(f"{folder}: holds shards but no {stores.META}; name another folder or delete it")
        return {}
    meta = stores.read_meta(folder)
    if meta["fingerprint"] != plan.fingerprint:
        raise RaccoonError(f"{folder}: holds another set ({meta.get('label', '?')}, {meta['fingerprint']}); name another folder")
    found = {}
    for key, entry in meta["shards"].items():
        path = stores.shard_path(folder, int(key))
        if not path.exists():
            log.warning("%s: missing; it is made again", path)
            continue
        stores.check_shard(path, entry, stores.FORMATS[plan.format])
        found[int(key)] = entry
    return found


def _write_shard(folder: Path, index: int, rows: NDArray[np.void], kind: str) -> dict[str, Any]:
    dtype = stores.FORMATS[kind]
    if rows.dtype != dtype or not len(rows):
        raise RaccoonError(f"shard {index}: {len(rows)} rows of {rows.dtype}; a shard function of {kind} returns rows of {dtype}")
    buffer = io.BytesIO()
    np.save(buffer, rows, allow_pickle=False)
    with atomic(stores.shard_path(folder, index)) as handle:
        handle.write(buffer.getbuffer())
    return {"rows": len(rows), "sum": stores.checksum(rows), "sha256": hashlib.sha256(buffer.getbuffer()).hexdigest()}


def _write_meta(plan: Plan, folder: Path, shards: Mapping[int, Mapping[str, Any]], seconds: float, cut: bool = False) -> None:
    meta = {
        "format": plan.format,
        "version": stores.VERSION,
        "versions": installed("numpy", *EVALUATORS),
        "fingerprint": plan.fingerprint,
        "label": plan.label,
        "complete": cut or all(index in shards for index in range(plan.count)),
        **({"cut": True} if cut else {}),
        "seconds": round(seconds, 3),
        "rows": sum(entry["rows"] for entry in shards.values()),
        **plan.about,
        "identity": dict(plan.identity),
        "shards": {str(index): shards[index] for index in sorted(shards)},
    }
    write_json(folder / stores.META, stores.signed(meta))

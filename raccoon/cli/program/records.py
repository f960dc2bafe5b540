"""A file of records, one JSON a line, that an interrupted command continues."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from raccoon.contracts import RaccoonError
from raccoon.files import open_regular, write_text

__all__ = ["append", "kept"]

_MARK = "job"
_SYNC_S = 1.0
"""Seconds between two waits for the disk."""


def kept(path: Path, mark: str, questions: Iterable[Mapping[str, Any]], resume: bool = True) -> int:
    """How many of the ``questions`` have their record in ``path``, in their order; without ``resume`` the file must not exist.

    A last line that was cut short is removed. A question is what its record starts with: every key and value of it is in the
    record. One line is in memory at a time. Raises RaccoonError when the file holds anything else, or records that another job
    (``mark``) made.
    """
    if not path.exists():
        write_text(path, "")
        return 0
    if not resume:
        raise RaccoonError(f"out={path}: exists already; name another file, or leave out resume=false to continue it")
    whole, size, rest = 0, 0, b""
    try:
        with open_regular(path) as handle:
            waiting = iter(questions)
            for line in handle:
                if not line.endswith(b"\n"):
                    rest = line
                    break
                whole, size = whole + 1, size + len(line)
                _check(f"{path}, line {whole}", line, mark, next(waiting, None))
        start = json.dumps({_MARK: mark})[:-1].encode()
        if not (rest.startswith(start) or start.startswith(rest)):
            raise RaccoonError(f"{path}, line {whole + 1}: not a record of this job; name another file")
        if rest:
            os.truncate(path, size)
    except (OSError, UnicodeDecodeError) as error:
        raise RaccoonError(f"out={path}: cannot be read ({error})") from error
    return whole


def _check(place: str, line: bytes, mark: str, question: Mapping[str, Any] | None) -> None:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise RaccoonError(f"{place}: not JSON ({error}); name another file") from error
    if not isinstance(record, dict) or record.get(_MARK) != mark:
        raise RaccoonError(f"{place}: made by another player, search or top; name another file")
    if question is None or any(record.get(key) != value for key, value in question.items()):
        raise RaccoonError(f"{place}: not the position asked for there; name another file")


def append(path: Path, mark: str, records: Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Write the records at the end of ``path`` as they come: whatever kills the process, those that came are in the file.

    The disk is waited for at the end and at most once in ``_SYNC_S``; records that a power cut takes are made again.
    """
    try:
        handle = open(path, "ab", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _full(path, error) from error
    with handle:
        synced = -math.inf
        for record in records:
            try:
                handle.write((json.dumps({_MARK: mark, **record}) + "\n").encode())
                if time.monotonic() - synced >= _SYNC_S:
                    os.fsync(handle.fileno())
                    synced = time.monotonic()
            except OSError as error:
                raise _full(path, error) from error
            yield
        try:
            os.fsync(handle.fileno())
        except OSError as error:
            raise _full(path, error) from error


def _full(path: Path, error: OSError) -> RaccoonError:
    return RaccoonError(f"out={path}: cannot be written ({error.strerror or error}); free some space, and the same command goes on there")

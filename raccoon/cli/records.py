"""A file of records, one JSON a line, that an interrupted command continues."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raccoon.contracts import RaccoonError
from raccoon.files import read_regular, write_text

__all__ = ["append", "kept"]

_MARK = "job"
_MOST = 1 << 32
"""Bytes of the largest file that is continued."""


def kept(path: Path, mark: str, asked: Sequence[Mapping[str, Any]], resume: bool = True) -> int:
    """How many of the questions ``asked`` have their record in ``path``, in their order; without ``resume`` the file must not exist.

    A last line that was cut short is removed. A question is what its record starts with: every key and value of it is in the
    record. Raises RaccoonError when the file holds anything else, or records that another job (``mark``) made.
    """
    if not path.exists():
        write_text(path, "")
        return 0
    if not resume:
        raise RaccoonError(f"out={path}: exists already; name another file, or leave out resume=false to continue it")
    try:
        text = read_regular(path, _MOST).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise RaccoonError(f"out={path}: cannot be read ({error})") from error
    lines = text.split("\n")
    whole = lines[:-1]
    for number, line in enumerate(whole, start=1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise RaccoonError(f"{path}, line {number}: not JSON ({error}); name another file") from error
        if not isinstance(record, dict) or record.get(_MARK) != mark:
            raise RaccoonError(f"{path}, line {number}: made by another player, search or top; name another file")
        if number > len(asked) or any(record.get(key) != value for key, value in asked[number - 1].items()):
            raise RaccoonError(f"{path}, line {number}: not the position asked for there; name another file")
    start = json.dumps({_MARK: mark})[:-1]
    if not (lines[-1].startswith(start) or start.startswith(lines[-1])):
        raise RaccoonError(f"{path}, line {len(lines)}: not a record of this job; name another file")
    if lines[-1]:
        write_text(path, "".join(f"{line}\n" for line in whole))
    return len(whole)


def append(path: Path, mark: str, records: Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Write the records at the end of ``path`` as they come, each on the disk before the next is asked for."""
    try:
        handle = open(path, "ab", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _full(path, error) from error
    with handle:
        for record in records:
            try:
                handle.write((json.dumps({_MARK: mark, **record}) + "\n").encode())
                os.fsync(handle.fileno())
            except OSError as error:
                raise _full(path, error) from error
            yield


def _full(path: Path, error: OSError) -> RaccoonError:
    return RaccoonError(f"out={path}: cannot be written ({error.strerror or error}); free some space, and the same command goes on there")

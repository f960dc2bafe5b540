"""Atomic files: written under a temporary name in the same folder, flushed, then renamed. A reader never sees half."""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import json
import os
import re
import socket
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from raccoon.contracts import RaccoonError

__all__ = [
    "atomic",
    "check_suffix",
    "file_digest",
    "json_text",
    "make_folder",
    "open_regular",
    "parse_json",
    "read_bounded",
    "read_json",
    "read_regular",
    "remove_left_over",
    "write_csv",
    "write_json",
    "write_text",
]

_TEMPORARY = re.compile(r"\..+\.(?P<pid>[0-9]{1,10})@(?P<host>[A-Za-z0-9-]*)\.tmp")
_written: set[str] = set()  # names of the temporary files that this process is writing


def make_folder(path: Path | str) -> Path:
    """``path`` as a folder that exists, made with its parents where there is none. Raises RaccoonError naming it where that cannot be."""
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RaccoonError(f"{path}: cannot be made a folder ({error.strerror}); free some space or name another one") from error
    return path


@contextlib.contextmanager
def atomic(path: Path | str) -> Iterator[IO[bytes]]:
    """Open a temporary file for writing; rename it to ``path`` on success, delete it on any error.

    Raises RaccoonError naming ``path`` when the disk is full or the folder cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}@{_host()}.tmp")
    _written.add(temporary.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise RaccoonError(f"{path}: cannot be written ({error.strerror or error}); free some space or name another folder") from error
        raise
    finally:
        _written.discard(temporary.name)


def remove_left_over(folder: Path | str, deep: bool = False) -> None:
    """Delete the temporary files that killed processes of this machine left in ``folder`` (``deep``: and below it).

    Those of living processes and of other machines stay.
    """
    for path in Path(folder).glob("**/.*.tmp" if deep else ".*.tmp"):
        found = _TEMPORARY.fullmatch(path.name)
        if found and found["host"] == _host() and path.name not in _written and not _alive_other(int(found["pid"])):
            with contextlib.suppress(OSError):
                path.unlink()


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:40]


def _alive_other(pid: int) -> bool:
    """Is ``pid`` another process that lives? This one's own files are in ``_written``: what else bears its number is older."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:  # another user's process may not be asked, but lives
        return not isinstance(error, ProcessLookupError)
    return True


def check_suffix(path: Path | str, what: str, *suffixes: str) -> None:
    """Raise RaccoonError for a name whose suffix promises another format than ``what`` is in; a name without one is fine."""
    path = Path(path)
    if path.suffix and not path.name.endswith(suffixes):
        raise RaccoonError(f"{path}: what is written there is {what}; name it {path.with_suffix(suffixes[0])}")


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic(path) as handle:
        handle.write(text.encode())


def write_json(path: Path | str, data: Any) -> None:
    """Write indented JSON atomically (numpy scalars allowed)."""
    write_text(path, json_text(data) + "\n")


def json_text(data: Any) -> str:
    """Indented JSON (numpy scalars and arrays and paths allowed)."""
    return json.dumps(data, indent=2, default=_plain)


def write_csv(path: Path | str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV atomically; the columns are the keys of all rows in the order of their first use, None is empty."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, buffer.getvalue())


@contextlib.contextmanager
def open_regular(path: Path | str) -> Iterator[io.BufferedReader]:
    """A regular file, open to be read. Raises OSError for anything else, such as a pipe, without waiting for its writer."""
    with open(path, "rb", opener=_without_waiting) as handle:
        if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no regular file")
        yield handle


def read_regular(path: Path | str, most: int = 1 << 30) -> bytes:
    """The bytes of a regular file. Raises OSError for anything else (a pipe, a device) and for one of more than ``most`` bytes."""
    with open_regular(path) as handle:
        return _at_most(handle, most)


def read_bounded(path: Path | str, most: int) -> bytes:
    """The bytes of a file, a pipe or a device. Raises OSError where there are more than ``most``."""
    with open(path, "rb") as handle:
        return _at_most(handle, most)


def _at_most(handle: io.BufferedReader, most: int) -> bytes:
    data = handle.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes")
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # otherwise opening a pipe would wait for its writer


def file_digest(path: Path | str) -> str:
    """SHA-256 of a regular file, hexadecimal. Raises OSError where it cannot be read."""
    with open_regular(path) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def read_json(path: Path | str) -> Any:
    """Read JSON; raises RaccoonError naming the file when it is missing, broken or ambiguous (see ``parse_json``)."""
    try:
        return parse_json(read_regular(path))
    except (OSError, ValueError) as error:
        raise RaccoonError(f"{path}: not readable as JSON ({error})") from error


def parse_json(text: bytes | str) -> Any:
    """Parsed JSON. Raises ValueError for what is none, for a name given twice, text that is no Unicode (lone surrogates), numbers of
    thousands of digits and what is nested too deeply."""
    try:
        found = json.loads(text, object_pairs_hook=_object)
        if (b"\\ud" in text.lower()) if isinstance(text, bytes) else ("\\ud" in text.lower()):
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice in one object")
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"not JSON: {type(value).__name__}")

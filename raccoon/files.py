"""Atomic files: written under a temporary name in the same folder, flushed, then renamed. A reader never sees half."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import socket
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from raccoon.contracts import RaccoonError

__all__ = [
    "atomic",
    "check_suffix",
    "read_arrays",
    "read_json",
    "remove_left_over",
    "write_arrays",
    "write_csv",
    "write_json",
    "write_text",
]

_TEMPORARY = re.compile(r"\..+\.(?P<pid>[0-9]{1,10})@(?P<host>[A-Za-z0-9-]*)\.tmp")
_written: set[str] = set()
"""Names of the temporary files that this process is writing."""


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
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise RaccoonError(f"{path}: cannot be written ({error.strerror or error}); free some space or name another folder") from error
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
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
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
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
    write_text(path, json.dumps(data, indent=2, default=_plain) + "\n")


def write_csv(path: Path | str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV atomically; the columns are the keys of all rows in the order of their first use, None is empty."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, buffer.getvalue())


def read_json(path: Path | str) -> Any:
    """Read JSON; raises RaccoonError naming the file when it is missing or broken."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise RaccoonError(f"{path}: not readable as JSON ({error})") from error


def write_arrays(path: Path | str, arrays: Mapping[str, Any]) -> None:
    """Write a dict of arrays as ``.npz`` atomically."""
    with atomic(path) as handle:
        np.savez(handle, allow_pickle=False, **{key: np.asarray(value) for key, value in arrays.items()})


def read_arrays(path: Path | str, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Those arrays of an ``.npz``; raises RaccoonError naming the file when it is missing, damaged or has not got one of them."""
    try:
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError, TypeError, RuntimeError) as error:
        raise RaccoonError(f"{path}: is missing or damaged ({type(error).__name__}: {error})") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"not JSON: {type(value).__name__}")

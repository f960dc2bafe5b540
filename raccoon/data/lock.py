"""One writer a folder: a lock file that names the process, and is taken over when that process is dead."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from raccoon.contracts import RaccoonError

__all__ = ["check_free", "writing"]

_NAME = ".writer.json"


def check_free(folder: Path) -> None:
    """Raise RaccoonError when another living process (or one on another host) writes into ``folder``."""
    owner = _owner(folder / _NAME)
    if owner is None:
        return
    where = f"process {owner.get('pid')} on {owner.get('host')}"
    if owner.get("host") != socket.gethostname():
        raise RaccoonError(f"{folder}: being written by {where}; if that process is gone, delete {folder / _NAME}")
    if _alive(owner):
        raise RaccoonError(f"{folder}: being written by {where}; wait for it or name another folder")


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the lock of ``folder``. Raises RaccoonError when a living process holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RaccoonError(f"{folder}: cannot be made a folder ({error.strerror}); free some space or name another one") from error
    path = folder / _NAME
    mine = {"pid": os.getpid(), "host": socket.gethostname(), "started": _started(os.getpid())}
    while True:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            break
        except FileExistsError:
            check_free(folder)
            path.unlink(missing_ok=True)
        except OSError as error:
            raise RaccoonError(f"{folder}: cannot be written ({error.strerror}); free some space or name another folder") from error
    try:
        with os.fdopen(handle, "w") as out:
            json.dump(mine, out)
        yield
    finally:
        path.unlink(missing_ok=True)


def _owner(path: Path) -> dict[str, Any] | None:
    """Who holds the lock; an empty dict (nobody alive) when the file was cut short by a crash or a full disk."""
    try:
        owner = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        owner = None
    return owner if isinstance(owner, dict) else {"pid": -1, "host": socket.gethostname()}


def _alive(owner: dict[str, Any]) -> bool:
    pid = owner.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return owner.get("started") == _started(pid)


def _started(pid: int) -> str | None:
    """Start time of a process in clock ticks, so that a reused pid is not mistaken for the writer; None off Linux."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None

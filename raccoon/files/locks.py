"""One writer a folder: a lock file that the system frees when its process dies, however it dies.

The file stays in the folder and says who took it last; whether it is held, only the lock itself says.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from filelock import AcquireReturnProxy, FileLock, Timeout, lock_descriptor

from raccoon.contracts import RaccoonError
from raccoon.files import make_folder, remove_left_over

__all__ = ["NAME", "Held", "check_free", "holder", "take", "writing"]

NAME = ".lock"
"""The lock file of a folder."""
Held = AcquireReturnProxy[FileLock]
"""A lock that is held: a context manager that frees it at its end, or ``held.lock.release()``."""
_PATIENCE = 0.2  # seconds: whoever looks into ``holder`` has the lock for an instant
_REMOVED = 4  # times that a folder may be gone again before it is locked: ``claims.discard`` removes those that were never used
_RECORD = 1000  # bytes of the record at most


def take(folder: Path) -> Held | None:
    """The lock of ``folder`` (made when missing), or None when another holds it. Temporary files of dead processes are removed.

    Raises RaccoonError when the folder cannot be made, written or locked.
    """
    for last in (False,) * _REMOVED + (True,):
        make_folder(folder)
        try:
            held = FileLock(folder / NAME, on_acquired=_sign).acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
            remove_left_over(folder)
            return held
        except Timeout:
            return None
        except FileNotFoundError as error:
            if last:
                raise RaccoonError(f"{folder}: is removed by another process again and again; name another folder") from error
        except OSError as error:
            raise RaccoonError(f"{folder}: cannot be written ({error.strerror}); free some space or name another folder") from error
    raise AssertionError("unreachable")


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the lock of ``folder``. Raises RaccoonError, naming the holder, when another has it."""
    held = take(folder)
    if held is None:
        raise _in_use(folder, holder(folder))
    with held:
        yield


def check_free(folder: Path) -> None:
    """Raise RaccoonError, naming the holder, when another process has the lock of ``folder``."""
    if owner := holder(folder):
        raise _in_use(folder, owner)


def _in_use(folder: Path, owner: str | None) -> RaccoonError:
    return RaccoonError(f"{folder}: being written by {owner or 'another process'}; wait for it or name another folder")


def holder(folder: Path) -> str | None:
    """``process PID on HOST`` that holds the lock of ``folder``; None when nobody does. Changes nothing, and may be asked of any folder."""
    try:
        handle = os.open(folder / NAME, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode) or lock_descriptor(handle, blocking=False):
            return None
        return _signed(os.read(handle, _RECORD))
    except OSError:
        return None
    finally:
        os.close(handle)


def _sign(handle: int) -> None:
    if os.fstat(handle).st_nlink == 0:  # removed since it was opened: whoever comes next makes and locks another file
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    record = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
    os.ftruncate(handle, 0)
    os.pwrite(handle, record, 0)


def _signed(record: bytes) -> str:
    try:
        owner = json.loads(record)
        return f"process {str(owner['pid'])[:20]} on {str(owner['host'])[:80]}"
    except (ValueError, KeyError, TypeError, RecursionError):  # taken in this very instant
        return "another process"

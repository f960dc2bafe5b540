"""The GNU Backgammon program as a child process that answers questions asked in its text mode.

A question is a few commands; behind them goes a word that the program does not know, and its complaint about that word
ends the answer. Whatever goes wrong - the process dies, does not answer in time or answers what cannot be read - has one
remedy: a new process, which is asked again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TypeVar

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError

__all__ = ["GnubgProcess", "find_program"]

T = TypeVar("T")
log = logging.getLogger(__name__)

_PLACES = ("/usr/games/gnubg", "/usr/local/bin/gnubg")
_INSTALL = "install it (Debian, Ubuntu: apt install gnubg) or give player.path"
_LONGEST = 1 << 20
"""Bytes that an answer may have: a program that writes without end is stopped before it fills the memory."""


class _NoAnswer(Exception):
    """The process has to be replaced; the message says why."""


def find_program(path: str | None = None, timeout_s: float = 30.0) -> tuple[str, str]:
    """``(path, version)`` of the program at ``path``, by default that of the search path or of ``/usr/games``.

    Raises RaccoonError, saying how to install it, where there is none or the file is not GNU Backgammon.
    """
    found = shutil.which(path or "gnubg")
    if found is None and path is None:
        found = next((place for place in _PLACES if os.access(place, os.X_OK)), None)
    if found is None:
        what = "the program gnubg is not installed" if path is None else f"player.path={quoted(path)} is not a program"
        raise RaccoonError(f"GNU Backgammon: {what}; {_INSTALL}")
    try:
        done = subprocess.run(
            [found, "--version"], capture_output=True, text=True, errors="replace", timeout=timeout_s, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RaccoonError(f"GNU Backgammon: {found} --version does not answer ({error}); {_INSTALL}") from error
    version = re.search(r"GNU Backgammon +(\S+)", done.stdout)
    if version is None:
        raise RaccoonError(f"GNU Backgammon: {found} is another program ({quoted(done.stdout)} for its version); {_INSTALL}")
    return found, version[1]


class GnubgProcess:
    """One running program. It is started by the first question, and again in every process that inherits the object.

    ``path`` as ``find_program`` gives it; ``setup`` commands sent once to every new process; ``timeout_s`` seconds that an
    answer may take; ``restarts`` how many new processes one question may cost. ``restarts_used`` counts all of them.
    """

    def __init__(self, path: str, setup: Sequence[str], timeout_s: float, restarts: int) -> None:
        self.path, self.setup, self.timeout_s, self.restarts = path, tuple(setup), timeout_s, restarts
        self.restarts_used = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._asked = 0
        self._stop: Callable[[], object] = lambda: None

    @property
    def pid(self) -> int | None:
        """Process id of the running program; None before the first question."""
        return None if self._child is None else self._child.pid

    def ask(self, commands: Sequence[str], read: Callable[[str], T | None]) -> T:
        """What ``read`` makes of the answer to ``commands``; it returns None for an answer that is none.

        Raises RaccoonError with the commands and the last fault when ``restarts`` new processes did not help.
        """
        used = 0
        while True:
            try:
                answer = self._exchange(commands)
                result = read(answer)
                if result is None:
                    raise _NoAnswer(f"answered {answer[-300:]!r}, which cannot be read")
                return result
            except _NoAnswer as fault:
                self.close()
                if used == self.restarts:
                    sent = "; ".join(commands)
                    raise RaccoonError(f"GNU Backgammon ({self.path}) {fault} after player.restarts={used}; asked: {sent}") from fault
                used += 1
                self.restarts_used += 1
                log.warning("GNU Backgammon (%s) %s; started again", self.path, fault)

    def close(self) -> None:
        """End the program; the next question starts a new one."""
        self._stop()
        self._child = None

    def _exchange(self, commands: Sequence[str]) -> str:
        if self._child is None or self._owner != os.getpid():
            self._start()
        return self._send(commands)

    def _start(self) -> None:
        folder = tempfile.mkdtemp(prefix="raccoon-gnubg-")
        try:
            # its own folder for preferences: what the user has set in the program must not change how it plays here
            self._child = subprocess.Popen(
                [self.path, "-t", "-q", "-r", "-s", folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "LANGUAGE": "C", "HOME": folder},
            )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise RaccoonError(f"GNU Backgammon: {self.path} cannot be started ({error}); {_INSTALL}") from error
        self._owner = os.getpid()
        self._stop = weakref.finalize(self, _end, self._child, folder, self._owner)
        self._send(self.setup)

    def _send(self, commands: Sequence[str]) -> str:
        child = self._child
        assert child is not None
        assert child.stdin is not None
        self._asked += 1
        word = f"raccoon{self._asked}"
        try:
            child.stdin.write("\n".join([*commands, word, ""]).encode())
            child.stdin.flush()
        except OSError as error:
            raise _NoAnswer(f"died ({error})") from error
        return _until(child, re.compile(rb"\b" + word.encode() + rb"\b"), self.timeout_s)


def _until(child: subprocess.Popen[bytes], end: re.Pattern[bytes], timeout_s: float) -> str:
    """What the child writes before ``end``."""
    assert child.stdout is not None
    descriptor = child.stdout.fileno()
    limit = time.monotonic() + timeout_s
    seen = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(descriptor, selectors.EVENT_READ)
        while (found := end.search(seen)) is None:
            if len(seen) > _LONGEST:
                raise _NoAnswer(f"wrote more than {_LONGEST} bytes without answering")
            if not ready.select(max(0.0, limit - time.monotonic())):
                raise _NoAnswer(f"did not answer in {timeout_s:g} s (player.timeout_s)")
            part = os.read(descriptor, 1 << 16)
            if not part:
                raise _NoAnswer(f"died; its last words: {bytes(seen[-200:]).decode(errors='replace')!r}")
            seen += part
    return bytes(seen[: found.start()]).decode(errors="replace")


def _end(child: subprocess.Popen[bytes], folder: str, owner: int) -> None:
    if os.getpid() != owner:  # a forked copy: the program belongs to its parent
        return
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):  # words that a dead process never read
                stream.close()
    shutil.rmtree(folder, ignore_errors=True)

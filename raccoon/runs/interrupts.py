"""Ctrl-C and SIGTERM in every program: the first one ends it in good order, a second one ends it at once."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

__all__ = ["SIGNALS", "exit_status", "heard", "hold", "is_interrupt", "last_words", "listen", "pending", "release"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ECHO_S = 1.0  # programs such as timeout send a signal to a process and then to its group: that is one interrupt
_SHOW_CURSOR = b"\x1b[?25h"


class _State:
    """Of the process, as signal handlers are."""

    def __init__(self) -> None:
        self.installed = self.held = False
        self.received: signal.Signals | None = None
        self.when = 0.0
        self.last_words: list[Callable[[], None]] = []


_state = _State()


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Within: the first signal raises KeyboardInterrupt, at once or where ``release`` is called. Does nothing outside of the main
    thread, and within another ``heard``."""
    if _state.installed or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    _state.__init__()
    _state.installed = True
    listen()
    try:
        yield
    finally:
        _state.installed = False
        for number, handler in before.items():
            signal.signal(number, handler)


def listen() -> None:
    """Take the signals again after a library took them for itself."""
    if _state.installed and threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, _handle)


def hold() -> None:
    """From here on a signal waits for ``release``: what is under way must not be left half done."""
    _state.held = True


def release() -> None:
    """Raise KeyboardInterrupt if a signal came since ``hold``; from here on they are heard at once."""
    _state.held = False
    if _state.received is not None:
        raise KeyboardInterrupt


def pending() -> bool:
    """Whether a signal came."""
    return _state.received is not None


def exit_status() -> int:
    """What the program returns after an interrupt: 128 + the number of the signal, as shells have it."""
    return 128 + (_state.received or signal.SIGINT)


def is_interrupt(error: BaseException) -> bool:
    """Whether ``error`` is an interrupt, or what Lightning (SystemExit) or a compiled kernel (SystemError) makes of one."""
    found: BaseException | None = error
    while isinstance(found, SystemExit | SystemError):  # a kernel called by a kernel makes one of the other's
        found = found.__context__
    return isinstance(found, KeyboardInterrupt)


@contextlib.contextmanager
def last_words(say: Callable[[], None]) -> Iterator[None]:
    """Within: ``say`` is called, too, where a second signal ends the program at once."""
    _state.last_words.append(say)
    try:
        yield
    finally:
        if say in _state.last_words:
            _state.last_words.remove(say)


def _quiet(report: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``sys.unraisablehook`` after an interrupt: a pipe whose closing it cut short is closed again when it is collected."""

    def hook(found: Any) -> None:
        if not (isinstance(found.exc_value, OSError) and found.exc_value.errno == errno.EBADF):
            report(found)

    return hook


def _handle(number: int, _: FrameType | None) -> None:
    now = time.monotonic()
    if _state.received is None:
        _state.received, _state.when = signal.Signals(number), now
        sys.unraisablehook = _quiet(sys.unraisablehook)
        if not _state.held:
            raise KeyboardInterrupt
    elif now - _state.when > _ECHO_S:
        for say in _state.last_words:
            with contextlib.suppress(Exception):
                say()
        if sys.stderr.isatty():
            os.write(2, _SHOW_CURSOR)  # a progress bar hides it
        os._exit(128 + number)

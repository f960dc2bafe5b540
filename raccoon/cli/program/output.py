"""Standard output that lacks some characters, that is closed, full, or that nobody reads any more; or that goes to the log."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from raccoon.contracts import RaccoonError

__all__ = ["guarded", "quiet"]


@contextlib.contextmanager
def guarded(keeps: bool) -> Iterator[None]:
    """Within: what standard output cannot show becomes ``?``, and a log line that cannot be written stops nothing.

    When the reader has gone (``| head``), a program that ``keeps`` its results in files goes on without a word; another one ends at
    once, quietly, with 141 as for SIGPIPE. Any other fault of standard output ends in one message and status 2.
    """
    _fill_closed()
    stream, raising = sys.stdout, logging.raiseExceptions
    if hasattr(stream, "reconfigure"):
        cast(Any, stream).reconfigure(errors="replace")
    output = _Output(stream, keeps)
    sys.stdout, logging.raiseExceptions = cast(TextIO, output), False
    try:
        yield
    except BaseException:
        with contextlib.suppress(SystemExit, RaccoonError):  # what ended the program is told, not this
            output.flush()
        raise
    else:
        output.finish()
    finally:
        sys.stdout, logging.raiseExceptions = stream, raising


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Within: what a run says goes to its log alone, warnings too."""
    handlers = [handler for handler in logging.getLogger().handlers if not isinstance(handler, logging.FileHandler)]
    levels = [handler.level for handler in handlers]
    out: Any = _ToLog()
    logging.captureWarnings(True)
    try:
        for handler in handlers:
            handler.setLevel(logging.CRITICAL + 1)
        with contextlib.redirect_stdout(out):
            yield
    finally:
        logging.captureWarnings(False)
        for handler, level in zip(handlers, levels, strict=True):
            handler.setLevel(level)


class _Output:
    """``stream``, but for writes that fail."""

    def __init__(self, stream: TextIO, keeps: bool) -> None:
        self._stream, self._keeps = stream, keeps
        self._lost: OSError | None = None

    def write(self, text: str) -> int:
        """See ``TextIO.write``."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._lose(error)
            return len(text)

    def flush(self) -> None:
        """See ``TextIO.flush``."""
        try:
            self._stream.flush()
        except OSError as error:
            self._lose(error)

    def finish(self) -> None:
        """Write what is buffered; exit 2 with a message where output was lost, but for a reader who has gone."""
        try:
            self.flush()
            if self._lost is not None and self._lost.errno != errno.EPIPE:
                raise self._fault(self._lost)
        except RaccoonError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _lose(self, error: OSError) -> None:
        """From here on nothing is written, here and in the processes that start later; the buffered rest would fail at every flush."""
        self._lost = self._lost or error
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        if self._keeps:
            return
        if error.errno == errno.EPIPE:
            sys.exit(128 + signal.SIGPIPE)
        raise self._fault(error) from error

    def _fault(self, error: OSError) -> RaccoonError:
        kept = "; what is in files is whole" if self._keeps else ""
        return RaccoonError(f"standard output: cannot be written ({error.strerror}); free some space or send it elsewhere{kept}")


class _ToLog:
    """A text stream whose lines become lines of the log."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            logging.getLogger("raccoon.out").info("%s", line)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back but half a line."""

    def isatty(self) -> bool:
        return False


def _fill_closed() -> None:
    """A file that a program opens must not become its standard output because that was closed (``>&-``)."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115

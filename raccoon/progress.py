"""Progress bars (rich) for anything over two seconds; silent when the output is not a terminal, but for a log line."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["track"]

T = TypeVar("T")
log = logging.getLogger(__name__)
_LOG_EVERY_S = 30.0


def track(items: Iterable[T], total: int, label: str, enabled: bool = True) -> Iterator[T]:
    """Yield ``items`` while a bar shows ``label``, done, total and the time left. Off a terminal: a log line every 30 s."""
    if enabled and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield from bar.track(items, total=total, description=label)
        return
    last = time.monotonic()
    for done, item in enumerate(items, start=1):
        if enabled and time.monotonic() - last > _LOG_EVERY_S:
            last = time.monotonic()
            log.info("%s: %d of %d", label, done, total)
        yield item

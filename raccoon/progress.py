"""How far a long job is: a bar on a terminal, else a log line now and then; units done, their rate and the time left.

A shard says what it has done (``advance``) and, where nobody knows beforehand, how much there is (``expect``). What it says goes to
a ``Board``, which the process that waits for the results reads.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Board", "Meter", "Work", "advance", "duration", "expect", "reporting", "track"]

T = TypeVar("T")
Board = MutableSequence[int]
"""Two numbers for each shard under way: the units that it expects (0: not known yet) and those that it has done."""
log = logging.getLogger(__name__)
_FIRST_S, _LONGEST_S = 5.0, 300.0  # from one log line to the next: half of the time that has passed, within these
_REFRESH_S = 0.5
_ALIKE = "shards"  # the unit where shards are all that is counted
_sink: tuple[Board, int] | None = None


@dataclass(frozen=True)
class Work:
    """What is done: ``label``, what it is counted in, and how many ``unit`` each index of the job holds (None: the shards say)."""

    label: str
    unit: str = _ALIKE
    sizes: Sequence[int] | None = None

    def before(self, indices: Sequence[int]) -> int:
        """Units of the job that are not in ``indices``: done by an earlier run."""
        return 0 if self.sizes is None else sum(self.sizes) - sum(self.sizes[index] for index in indices)


@contextlib.contextmanager
def reporting(board: Board | None, place: int) -> Iterator[None]:
    """Within, ``advance`` and ``expect`` write to shard ``place`` of ``board`` (None: nobody listens), from 0 on."""
    global _sink
    saved = _sink
    _sink = None if board is None else (board, 2 * place)
    if board is not None:
        board[2 * place] = board[2 * place + 1] = 0
    try:
        yield
    finally:
        _sink = saved


def advance(count: int = 1) -> None:
    """So many more units of the shard under way are done."""
    if _sink is not None:
        board, at = _sink
        board[at + 1] += count


def expect(count: int) -> None:
    """The shard under way holds so many units."""
    if _sink is not None:
        board, at = _sink
        board[at] = count


class Meter:
    """Shows the progress of ``work`` on the shards ``indices`` while it is open; ``board`` is where those say what they have done."""

    def __init__(self, work: Work, indices: Sequence[int], board: Board, enabled: bool = True) -> None:
        self.work, self.enabled = work, enabled
        alike = work.unit == _ALIKE
        self.board = [0] * len(board) if alike else board
        self.sizes = [1] * len(indices) if alike else None if work.sizes is None else [work.sizes[index] for index in indices]
        self.base = 0 if alike else work.before(indices)
        self._finished = [0] * len(indices)
        self._began = time.monotonic()
        self._moved: tuple[float, int] | None = None  # when the first units were done, and how many
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def finish(self, place: int) -> None:
        """The shard at ``place`` of the indices is done."""
        self._finished[place] = max(self.board[2 * place : 2 * place + 2]) if self.sizes is None else self.sizes[place]

    def amounts(self) -> tuple[int, int | None]:
        """Units done and units in all, what an earlier run did included; None while nobody knows how many there are."""
        done, known, knowing = self.base, 0, 0
        for place, finished in enumerate(self._finished):
            expected, advanced = self.board[2 * place : 2 * place + 2]
            size = self.sizes[place] if self.sizes is not None else finished or expected
            done += finished or min(advanced, size or advanced)
            known, knowing = known + size, knowing + (size > 0)
        return done, self.base + known * len(self._finished) // knowing if knowing else None

    def text(self) -> str:
        """``1,200 of 6,000 games, 14 games/s, 6 min left``."""
        done, total = self.amounts()
        unit = self.work.unit
        counted = f"{done:,} {unit}" if total is None else f"{done:,} of {total:,} {unit}"
        rate = self._rate(done)
        if rate <= 0:
            return counted
        speed = f"{rate:,.0f} {unit}/s" if rate >= 10 else f"{rate:.1f} {unit}/s" if rate >= 0.5 else f"{1 / rate:,.0f} s each"
        return f"{counted}, {speed}" + ("" if total is None else f", {duration((total - done) / rate)} left")

    def _rate(self, done: int) -> float:
        """Units a second, from the first ones on: before, processes start and players load."""
        now = time.monotonic()
        if self._moved is None and done > self.base:
            self._moved = now, done
        since, start = self._moved or (now, done)
        if done == start or now - since < 1.0:
            since, start = self._began, self.base
        return (done - start) / max(now - since, 1e-9)

    def __enter__(self) -> Meter:
        if self.enabled and self._finished:
            show = self._bar if sys.stderr.isatty() else self._lines
            self._thread = threading.Thread(target=show, name="raccoon-progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _lines(self) -> None:
        wait = _FIRST_S
        while not self._stop.wait(wait):
            log.info("%s: %s", self.work.label, self.text())
            wait = min(max(_FIRST_S, (time.monotonic() - self._began) / 2), _LONGEST_S)

    def _bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
            task = bar.add_task(self.work.label, total=None, told="")
            while True:
                done, total = self.amounts()
                bar.update(task, completed=done, total=total, told=self.text(), refresh=True)
                if self._stop.wait(_REFRESH_S):
                    return


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def track(items: Iterable[T], total: int, label: str, unit: str, enabled: bool = True) -> Iterator[T]:
    """Yield ``items`` while the progress shows ``label``, how many of ``total`` are done and the time left."""
    board = [total, 0]
    with Meter(Work(label, unit, [total]), [0], board, enabled):
        for item in items:
            yield item
            board[1] += 1

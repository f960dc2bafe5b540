"""Long work beside the page: one job at a time in a thread of its own, stopped when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["Stopped", "Worker"]

T = TypeVar("T")
_LOOK_S = 0.1
"""Time between two looks at whether somebody still waits."""
_ASKED = ("value", "probs6", "policy")


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Worker:
    """Runs jobs one after the other. A job is stopped where it asks an engine that ``stoppable`` made."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "raccoon-serve")
        self._closed = threading.Event()
        self._current = threading.Event()

    async def run(self, job: Callable[[], T], gone: Callable[[], Awaitable[bool]]) -> T:
        """What ``job`` returns. Raises Stopped soon after ``gone`` says that nobody waits, and what the job raises."""
        stop = threading.Event()
        waiting = asyncio.wrap_future(self._pool.submit(self._do, stop, job))
        try:
            while not (await asyncio.wait([waiting], timeout=_LOOK_S))[0]:
                if await gone():
                    break
        finally:
            stop.set()  # also where the one who waits was cancelled
        return await waiting

    def stoppable(self, player: Any) -> Any:
        """A copy of ``player`` whose engine raises Stopped in jobs that are stopped."""
        player = copy.copy(player)
        player.engine = engine = copy.copy(player.engine)
        for name in _ASKED:
            if hasattr(engine, name):
                setattr(engine, name, self._checked(getattr(engine, name)))
        return player

    def close(self) -> None:
        """Stop what runs and refuse what waits."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _do(self, stop: threading.Event, job: Callable[[], T]) -> T:
        self._current = stop
        self._check()
        return job()

    def _checked(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def checked_call(*arguments: Any, **named: Any) -> Any:
            self._check()
            return ask(*arguments, **named)

        return checked_call

    def _check(self) -> None:
        if self._current.is_set() or self._closed.is_set():
            raise Stopped

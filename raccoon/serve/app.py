"""The server of the page: its files, and the questions that it asks under ``/api``."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from raccoon.contracts import RaccoonError, Search
from raccoon.matches import svg
from raccoon.report import equity_graph
from raccoon.serve.answers import Answers
from raccoon.serve.guard import HOSTS, Guard, read_body
from raccoon.serve.opened import LONGEST
from raccoon.serve.worker import Stopped, Worker

__all__ = ["create_app"]

_FILES = Path(__file__).parent / "files"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_LONG, _SHORT = 8 * LONGEST, 1 << 14
"""Bytes of the longest message: of a match (a letter may take six in JSON), of anything else."""
_GONE = 499
Answer = Callable[[dict[str, Any]], dict[str, Any]]
log = logging.getLogger(__name__)


def create_app(player: Any, depths: Mapping[str, Search], generator: np.random.Generator) -> Starlette:
    """The page as an ASGI application, for ``serve`` and for tests. See ``raccoon.serve.answers.Answers`` for the arguments."""
    worker = Worker()
    answers = Answers(worker.stoppable(player), depths, generator)
    quick = [_quick(answer) for answer in (answers.about, answers.board, answers.game)]
    quick.append(_quick(answers.matches.match, _LONG))
    slow = [_slow(answer, worker) for answer in (answers.analysis, answers.go, answers.resign, answers.matches.more)]

    @contextlib.asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        yield
        worker.close()

    return Starlette(
        routes=[*_files(), *quick, *slow],
        middleware=[Middleware(Guard), Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)],
        exception_handlers={RaccoonError: _refused, HTTPException: _refused, Stopped: _refused, Exception: _fault},
        lifespan=running,
    )


def _files() -> list[Route]:
    """The files of the page, read once. There are no others, so that no path leads anywhere else."""
    found = {f"/{path.name}": (path.read_bytes(), _TYPES[path.suffix]) for path in _FILES.iterdir() if path.suffix in _TYPES}
    found |= {"/": found.pop("/index.html"), "/board.css": ((svg.STYLE + equity_graph.STYLE).encode(), _TYPES[".css"])}
    return [_file(path, data, kind) for path, (data, kind) in found.items()]


def _file(path: str, data: bytes, kind: str) -> Route:
    async def get(_: Request) -> Response:
        return Response(data, media_type=kind)

    return Route(path, get, methods=["GET"])


def _quick(answer: Answer, most: int = _SHORT) -> Route:
    """A question that is answered at once."""

    async def post(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(answer, await read_body(request, most)))

    return Route(f"/api/{answer.__name__}", post, methods=["POST"])


def _slow(answer: Answer, worker: Worker) -> Route:
    """A question that the worker answers, as long as somebody waits for it."""

    async def post(request: Request) -> Response:
        body = await read_body(request, _SHORT)
        return JSONResponse(await worker.run(lambda: answer(body), request.is_disconnected))

    return Route(f"/api/{answer.__name__}", post, methods=["POST"])


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return JSONResponse({"error": str(error.detail)}, error.status_code)
    stopped = isinstance(error, Stopped)
    return JSONResponse({"error": "stopped" if stopped else str(error)}, _GONE if stopped else 400)


async def _fault(request: Request, error: Exception) -> Response:
    log.error("fault while answering %s", request.url.path, exc_info=error)
    return JSONResponse({"error": f"fault of this program: {type(error).__name__}; its terminal says more"}, 500)

"""Runs the page on a port of this machine."""

from __future__ import annotations

import socket

import uvicorn
from starlette.types import ASGIApp

from raccoon.contracts import RaccoonError

__all__ = ["bound", "serve"]

_LOOPBACK = "127.0.0.1"
_CLOSE_S = 2


def bound(port: int) -> socket.socket:
    """A socket that listens to this machine alone; ``port`` 0 takes a free one. Raises RaccoonError where the port cannot be had."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((_LOOPBACK, port))
    except OSError as error:
        found.close()
        raise RaccoonError(f"port={port}: cannot be had ({error.strerror}); give another one, or 0 for any that is free") from error
    return found


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Answer until the program is interrupted."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=_CLOSE_S)
    uvicorn.Server(config).run(sockets=[listening])

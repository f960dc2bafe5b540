"""A page on this machine where people ask a player about positions, play against it and look at matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.serve.app import create_app
    from raccoon.serve.server import serve

__all__ = ["create_app", "serve"]

__getattr__, __dir__ = facade(__name__, {"create_app": "app", "serve": "server"})

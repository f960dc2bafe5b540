"""Learning from games of one's own: games, windows, the processes that play them."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

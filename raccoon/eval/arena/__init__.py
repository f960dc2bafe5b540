"""Arenas: games of two players, their luck, figures, verdicts, short matches."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

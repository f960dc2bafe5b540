"""Matches as records: read from the files of other programs, written as match text, replayed, analysed, drawn."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

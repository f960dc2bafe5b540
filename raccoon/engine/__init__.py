"""Engines: static evaluation of pre-roll boards. The names below are imported when first used (some need torch)."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

"""Benchmarks: decisions with the equities of a reference, their files, and how one is made."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

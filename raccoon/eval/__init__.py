"""Measurements: arenas, PR on a money benchmark, doubles; luck, statistics and reports behind them. Names load on first use."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

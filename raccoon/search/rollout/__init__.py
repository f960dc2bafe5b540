"""Rollouts: games to the end or to a truncation, with quasi-random dice."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

"""Run folders: whose they are, what became of them, sweeps of them, and where their numbers come from."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

"""Objects from config nodes: what a target may name, whether its arguments suit it, and building it."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

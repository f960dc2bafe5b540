"""The doubling cube: Janowski's model in money and match play, the state of the cube, cubeful search, exact bear-offs."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

"""Engines: static evaluation of pre-roll boards. The names below are imported when first used (some need torch)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.engine.base import EngineBase
    from raccoon.engine.composite import CompositeEngine
    from raccoon.engine.exact_bearoff.engine import BearoffEngine
    from raccoon.engine.gnubg import GnubgEngine
    from raccoon.engine.net import NetEngine
    from raccoon.engine.random import RandomEngine
    from raccoon.engine.sage import SageEngine

__all__ = ["BearoffEngine", "CompositeEngine", "EngineBase", "GnubgEngine", "NetEngine", "RandomEngine", "SageEngine"]

_HOMES = {
    "BearoffEngine": "bearoff",
    "CompositeEngine": "composite",
    "EngineBase": "base",
    "GnubgEngine": "gnubg",
    "NetEngine": "net",
    "RandomEngine": "random",
    "SageEngine": "sage",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

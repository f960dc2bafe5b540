"""The one place for intervals, bootstraps and power. Nothing here draws from a global generator.

Intervals are two-sided at ``LEVEL``. Observations that belong together (the decisions of one game, the games of one
match) are given as ``clusters``: any integer or string label per observation; the interval then treats whole clusters
as the independent units.
"""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

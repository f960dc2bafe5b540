"""Networks: trunks, value heads and the policy head behind one class. Importing this imports torch."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

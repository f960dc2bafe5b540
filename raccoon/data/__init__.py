"""Labelled positions: the packed store, how sets are made, and the DataModule that training reads them through."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

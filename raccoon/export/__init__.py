"""Networks as ONNX files: the graph, its description, the proof that it plays like the network."""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

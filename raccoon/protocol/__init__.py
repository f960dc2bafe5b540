"""Text protocols that other programs speak with a player."""

from raccoon.protocol.rgp import Session, serve

__all__ = ["Session", "serve"]

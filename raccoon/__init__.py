"""Raccoon: train, search and measure backgammon players."""

__version__ = "0.1.0"
__all__ = ["__version__"]

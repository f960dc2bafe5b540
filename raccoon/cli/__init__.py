"""Command lines: thin shells over the library. Start-up imports no torch."""

__all__ = ["main"]

from raccoon.cli.program.app import main

"""Versions of Raccoon and of installed packages, for fingerprints and for what files say about their making."""

from __future__ import annotations

import contextlib
import importlib.metadata

from raccoon import __version__

__all__ = ["EVALUATORS", "installed"]

EVALUATORS = ("gnubg-nn", "gnubg", "bgsage")
"""Packages whose version changes the numbers they give."""


def installed(*packages: str) -> dict[str, str]:
    """``{package: version}`` of Raccoon (the code that runs, installed or not) and of those packages that are installed."""
    found = {"raccoon": __version__}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found

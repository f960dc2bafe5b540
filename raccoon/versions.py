"""Versions of installed packages, for fingerprints and for what files say about their making."""

from __future__ import annotations

import contextlib
import importlib.metadata

__all__ = ["EVALUATORS", "installed"]

EVALUATORS = ("gnubg-nn", "gnubg", "bgsage")
"""Packages whose version changes the numbers they give."""


def installed(*packages: str) -> dict[str, str]:
    """``{package: version}`` of those that are installed."""
    found = {}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found

"""Versions of Raccoon and of installed packages, for fingerprints and for what files say about their making."""

from __future__ import annotations

import contextlib
import importlib.metadata

from raccoon import __version__

__all__ = ["COMPUTES", "EVALUATORS", "RECORDED", "computing", "installed"]

COMPUTES = "0.1.0"
"""Stands for what Raccoon computes from a job. It is raised, to the version of that release, when equal settings give other results;
until then label sets, shards and runs of older releases are continued."""
EVALUATORS = ("gnubg-nn", "gnubg", "bgsage")
"""Packages whose version changes the numbers they give."""

RECORDED = ("torch", "numpy", *EVALUATORS, "open_spiel", "lightning")
"""Packages whose versions a run folder and a report keep."""


def installed(*packages: str) -> dict[str, str]:
    """``{package: version}`` of Raccoon (the code that runs, installed or not) and of those packages that are installed."""
    found = {"raccoon": __version__}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def computing() -> dict[str, str]:
    """As ``installed``, of what changes results: it belongs to the fingerprint of a job."""
    return installed(*EVALUATORS) | {"raccoon": COMPUTES}

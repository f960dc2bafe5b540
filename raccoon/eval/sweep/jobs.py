"""Jobs of a sweep of training runs: where each one's PR was scored, and a name for what sets it apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from yaml import YAMLError

from raccoon.contracts import RaccoonError
from raccoon.flatten import leaves, shown

__all__ = ["config_names", "scored_folder"]

_APART = ("hydra", "defaults", "paths", "executor", "resume")


def scored_folder(job: Path) -> Path:
    """The folder with the decisions of ``job``: that of the final measurement where the job trained a network, else its own."""
    final = job / "final" / "bgsage_pr"
    return final if (final / "decisions.npz").is_file() else job


def config_names(jobs: Sequence[Path]) -> list[str]:
    """What differs between the ``config.yaml`` of the jobs, as ``key=value ...``; the folder's name for a job that is like another.

    Raises RaccoonError naming a configuration that cannot be read.
    """
    flat = [dict(leaves(_config(job))) for job in jobs]
    keys = sorted({key for one in flat for key in one if any(other.get(key) != one[key] for other in flat)})
    names = [" ".join(f"{key}={_short(one.get(key))}" for key in keys) for one in flat]
    return [name if name and names.count(name) == 1 else f"{name} #{job.name}".strip() for name, job in zip(names, jobs, strict=True)]


def _config(job: Path) -> dict[str, Any]:
    try:
        found = OmegaConf.to_container(OmegaConf.load(job / "config.yaml"))
    except (OSError, ValueError, YAMLError) as error:
        raise RaccoonError(f"{job / 'config.yaml'}: cannot be read ({error}); take that folder out of the sweep") from error
    return {str(key): value for key, value in found.items() if key not in _APART} if isinstance(found, dict) else {}


def _short(value: Any) -> str:
    """The value as the command line says it; of a target the class alone."""
    if isinstance(value, str) and value.startswith("raccoon."):
        return value.rsplit(".", 1)[-1]
    return shown(value)

"""Where run folders are: their default names, those of a sweep's jobs, and the resolvers that configs name them by."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from raccoon.runs import stages, sweeps
from raccoon.runs.claims import ROOT

__all__ = ["is_first_rank", "new_launch", "register_resolvers", "sweep_job", "sweep_place", "wanted_dir"]

_launches: dict[str, str] = {}


def register_resolvers() -> None:
    """``${raccoon.run_dir:KIND}``, ``${raccoon.sweep_dir:KIND}``, ``${raccoon.checkpoint:}`` and ``${stage:NAME.RESULT}``; called on
    import."""
    stages.register_resolver()
    OmegaConf.register_new_resolver("raccoon.run_dir", lambda kind: str(_default_dir(kind)), replace=True)
    OmegaConf.register_new_resolver("raccoon.sweep_dir", _sweep_dir, replace=True)
    OmegaConf.register_new_resolver("raccoon.checkpoint", _checkpoint, replace=True)


def _checkpoint(*, _parent_: Any) -> str:
    """The ``checkpoint`` of the player around a network, however deep it lies in an engine; outside of players the default network."""
    around = _parent_._get_parent()
    while around is not None:
        if isinstance(around, DictConfig) and "checkpoint" in around.keys():  # noqa: SIM118 (a missing key counts)
            return str(around.checkpoint)
        around = around._get_parent()
    return "default"


def new_launch() -> None:
    """The next default folders get a name of their own."""
    _launches.clear()


def _sweep_dir(kind: str) -> str:
    """The folder of the sweep under way, else that of a new one."""
    return os.environ.get(sweeps.FOLDER) or str(ROOT / "multirun" / kind / _launch(kind))


def sweep_place(cfg: DictConfig, kind: str) -> tuple[Path, bool]:
    """Where the config of a multirun (before its jobs) wants their folders, and whether the user said so."""
    run_dir, sweep_dir = str(cfg.paths.run_dir), str(cfg.hydra.sweep.dir)
    if run_dir != str(_default_dir(kind)):
        return Path(run_dir), True
    return Path(sweep_dir), sweep_dir != _sweep_dir(kind)


def is_first_rank() -> bool:
    """Whether this process is the first of its training, or the only one: the others leave folders and messages to it."""
    return (os.environ.get("LOCAL_RANK", "0"), os.environ.get("RANK", "0")) == ("0", "0")


def _launch(kind: str) -> str:
    """``date/time-id`` of this process's run: the short id keeps runs started in the same second apart."""
    if kind not in _launches:
        _launches[kind] = time.strftime("%Y-%m-%d/%H-%M-%S-") + secrets.token_hex(2)
    return _launches[kind]


def sweep_job() -> tuple[Path, str] | None:
    """The sweep's folder and this job's number in a multirun, else None."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    if not HydraConfig.initialized() or HydraConfig.get().mode != RunMode.MULTIRUN:
        return None
    return Path(HydraConfig.get().sweep.dir), str(HydraConfig.get().job.num)


def _default_dir(kind: str) -> Path:
    sweep = sweep_job()
    return sweep[0] / sweep[1] if sweep else ROOT / kind / _launch(kind)


def wanted_dir(cfg: DictConfig, kind: str) -> tuple[Path, bool]:
    """The folder that the config asks for, and whether the user named it. Jobs of a multirun never share one."""
    wanted, default = Path(str(cfg.paths.run_dir)), _default_dir(kind)
    if wanted == default:
        return wanted, False
    sweep = sweep_job()
    return (wanted / sweep[1] if sweep else wanted), True


register_resolvers()

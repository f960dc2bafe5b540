"""Loggers that need more than their constructor: imported late, resumable, offline where there is no key."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.runs.interrupts import is_interrupt

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger

__all__ = ["begin", "build_loggers", "closing_loggers", "csv_logger", "run_ids", "tensorboard_logger", "wandb_logger"]

log = logging.getLogger(__name__)
_WANDB = "WandbLogger"
_KILLED = 255  # the exit code that W&B shows as such


def csv_logger(save_dir: str, name: str = "csv") -> Logger:
    """Step by step figures in ``save_dir/name/version_N/metrics.csv``; a continued run adds a version, nothing is lost."""
    from lightning.pytorch.loggers import CSVLogger

    return CSVLogger(save_dir, name=name)


def tensorboard_logger(save_dir: str, name: str = "tensorboard") -> Logger:
    """TensorBoard events in ``save_dir/name``. Raises RaccoonError when the package is missing."""
    from lightning.pytorch.loggers import TensorBoardLogger

    try:
        return TensorBoardLogger(save_dir, name=name, version="")
    except ModuleNotFoundError as error:
        raise RaccoonError("logger=tensorboard: install the tensorboard extra (pip install -e '.[tensorboard]')") from error


def wandb_logger(
    save_dir: str,
    project: str = "raccoon",
    name: str | None = None,
    group: str | None = None,
    offline: bool | None = None,
    id: str | None = None,
) -> Logger:
    """Weights & Biases run in ``save_dir``. ``offline`` null: offline exactly when WANDB_API_KEY is not set.

    ``group`` null: the sweep in a multirun, else none. ``id`` continues that run; a resumed training fills it from its checkpoint.
    Raises RaccoonError when the package is missing.
    """
    try:
        import wandb  # noqa: F401
    except ModuleNotFoundError as error:
        raise RaccoonError("logger=wandb: install the wandb extra (pip install -e '.[wandb]')") from error
    from raccoon.train.wandb_run import EpochWandbLogger

    offline = not os.environ.get("WANDB_API_KEY") if offline is None else offline
    if offline:
        log.info("wandb: offline (no WANDB_API_KEY); `wandb sync` uploads %s later", Path(save_dir) / "wandb")
    chosen = _sweep_name() if group is None else group
    return EpochWandbLogger(
        name=name, save_dir=save_dir, project=project, offline=offline, id=id, group=chosen, resume="allow", settings=_quiet_settings()
    )


def _quiet_settings() -> Any:
    import wandb

    return wandb.Settings(silent=True, console="off")


def _sweep_name() -> str | None:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    if not HydraConfig.initialized() or HydraConfig.get().mode != RunMode.MULTIRUN:
        return None
    return "/".join(Path(HydraConfig.get().sweep.dir).parts[-2:])


def build_loggers(nodes: Mapping[str, Any] | None, ids: Mapping[str, str] | None = None) -> list[Logger]:
    """The loggers of a config section; ``ids`` are those of ``run_ids`` where an earlier run is continued. Raises RaccoonError."""
    from lightning.pytorch.loggers import Logger

    from raccoon.config.instantiate import build

    built = []
    for name, node in (nodes or {}).items():
        if not node:
            continue
        if not isinstance(node, Mapping):
            raise RaccoonError(f"logger.{name}={quoted(node)}: a logger file has one name and a node with _target_ below it")
        continued = str(node.get("_target_", "")).endswith("wandb_logger") and _WANDB in (ids or {})
        built.append(build(node, f"logger.{name}", Logger, **({"id": (ids or {})[_WANDB]} if continued else {})))
    return built


def begin(loggers: Iterable[Logger], config: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
    """Tell the loggers that keep such things (wandb) the resolved config and where code and data come from."""
    for logger in loggers:
        if callable(told := getattr(logger, "begin", None)):
            told(config, provenance)


def run_ids(loggers: Iterable[Logger]) -> dict[str, str]:
    """The run id of each logger that has one worth continuing (wandb), by class name: kept in every checkpoint."""
    found = [str(logger.version) for logger in loggers if _is_wandb(logger) and logger.version]
    return {_WANDB: found[-1]} if found else {}


def _is_wandb(logger: Logger) -> bool:
    return any(kind.__name__ == _WANDB for kind in type(logger).__mro__)


@contextlib.contextmanager
def closing_loggers() -> Iterator[None]:
    """Close an open wandb run at the end, so that the next job of a multirun starts its own, and mark it: as W&B does itself, a run
    that was interrupted is ``killed`` and another that raised ``failed``. Does nothing where wandb was not used."""
    status = 0
    try:
        yield
    except BaseException as error:
        status = _KILLED if is_interrupt(error) else 1
        raise
    finally:
        wandb = sys.modules.get("wandb")
        if wandb is not None and wandb.run is not None:
            wandb.finish(exit_code=status)

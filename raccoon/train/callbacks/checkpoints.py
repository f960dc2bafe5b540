"""Checkpoints of a run: the best by the monitored figure, the last for resuming, each written whole or not at all."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.pytorch.callbacks import ModelCheckpoint

from raccoon.contracts import RaccoonError
from raccoon.files import atomic, torch_file
from raccoon.model.checkpoint_file import seal

__all__ = ["BEST", "LAST", "TIMED", "AtomicCheckpointIO", "checkpoint_callbacks", "drop_timed", "peek", "resume_path"]

BEST, LAST, TIMED = "best.ckpt", "last.ckpt", "timed.ckpt"
_PARTS = {"pytorch-lightning_version", "state_dict", "loops"}


class AtomicCheckpointIO(TorchCheckpointIO):
    """Writes under a temporary name beside the file and renames; a full disk is a RaccoonError and keeps the old file."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        """See ``TorchCheckpointIO.save_checkpoint``."""
        seal(checkpoint)
        with atomic(Path(path)) as handle:
            handle.write(torch_file.dumps(checkpoint))


def checkpoint_callbacks(folder: Path, monitor: str | None, minutes: float | None) -> list[ModelCheckpoint]:
    """``best.ckpt`` (lowest ``monitor``; None: none), then ``last.ckpt`` after every epoch, ``timed.ckpt`` every ``minutes`` within one.

    The best comes first: a run that dies between the two repeats an epoch and finds the same best again.
    """
    common: dict[str, Any] = {"dirpath": folder, "enable_version_counter": False, "auto_insert_metric_name": False, "save_top_k": 1}
    callbacks = [ModelCheckpoint(filename=Path(LAST).stem, save_on_train_epoch_end=True, **common)]
    if monitor is not None:
        best = _Best(filename=Path(BEST).stem, monitor=monitor, mode="min", save_on_train_epoch_end=True, **common)
        callbacks.insert(0, best)
    if minutes is not None:
        interval = timedelta(minutes=minutes)
        callbacks.append(_WithinEpochs(filename=Path(TIMED).stem, train_time_interval=interval, **common))
    return callbacks


class _Best(ModelCheckpoint):
    """Remembers the score of the last epoch as well, which Lightning forgets: a run that only has to end writes it again."""

    @property
    def state_key(self) -> str:
        """As before there was this class."""
        return super().state_key.replace(type(self).__qualname__, ModelCheckpoint.__qualname__, 1)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """See ``ModelCheckpoint.load_state_dict``."""
        super().load_state_dict(state_dict)
        self.current_score = state_dict.get("current_score")


class _WithinEpochs(ModelCheckpoint):
    """Not after the last batch of an epoch: Lightning would go on from there without that epoch's validation. Nor between batches whose
    gradients are added up, which no checkpoint holds."""

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        """See ``ModelCheckpoint.on_train_batch_end``."""
        if not trainer.is_last_batch and not trainer.fit_loop._should_accumulate():
            super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)


def resume_path(folder: Path) -> Path | None:
    """The newest checkpoint of the run in ``folder`` to continue from, None when it has none yet."""
    found = [path for path in (folder / LAST, folder / TIMED) if path.exists()]
    return max(found, key=lambda path: path.stat().st_mtime_ns) if found else None


def drop_timed(folder: Path) -> None:
    """Of a training that has come to its end: remove the checkpoint from within an epoch, unless it is the newest."""
    if resume_path(folder) == folder / LAST:
        (folder / TIMED).unlink(missing_ok=True)


def peek(path: Path) -> dict[str, Any]:
    """The plain contents of a checkpoint; RaccoonError naming the file when it is broken, or something else than a training run's."""
    try:
        found = torch_file.read(path, lazy=True)
    except RaccoonError as error:
        raise RaccoonError(f"{error}; delete it to use an older one") from error
    if not isinstance(found, dict) or not found.keys() >= _PARTS:
        raise RaccoonError(f"{path}: not the checkpoint of a training run, which could go on; delete it to use an older one")
    return found

"""An interrupt keeps the work: the training is saved as it was after its last whole step, wherever Ctrl-C or SIGTERM came."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from raccoon.runs import interrupts

__all__ = ["KeepsWork"]

log = logging.getLogger(__name__)
_COUNTS = ("ready", "started", "processed")
_FIRST_BATCH = {"ready": 1, "started": 1, "processed": 0, "completed": 0}


class KeepsWork(Callback):
    """On an interrupt writes a checkpoint to ``path``, from which the run goes on bit for bit.

    Signals wait while a step changes the weights and while the end of an epoch is recorded. At other times they are heard at once: on a
    CPU, where a batch can take long, also in the middle of its passes; the batch is then begun again by the run that continues. Several
    processes, an accelerator, and gradients accumulated over batches finish their step first. In the validation of several processes
    there is no moment at which all could save, so what is kept is the last checkpoint. Raises KeyboardInterrupt.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._saved = 0  # step of the newest checkpoint
        self._loaders: list[Any] = []  # their places after the last whole step
        self._before: tuple[list[Tensor], Tensor] | None = None  # what the passes of a batch change
        self._patient = self._agreed = self._ending = False
        self._whole = True

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Take SIGTERM back from Lightning, and let the backward pass be interrupted."""
        interrupts.listen()
        self._saved = trainer.global_step
        self._patient = trainer.world_size > 1 or trainer.accumulate_grad_batches > 1 or pl_module.device.type != "cpu"
        if not self._patient:
            for parameter in pl_module.parameters():
                if parameter.requires_grad:
                    parameter.register_post_accumulate_grad_hook(_let_python_run)

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The epoch before is recorded."""
        interrupts.release()

    def on_train_batch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int) -> None:
        """The step before is whole."""
        if self._patient:
            self._agree(trainer)
            interrupts.hold()
            return
        interrupts.release()
        self._before = [buffer.clone() for buffer in pl_module.buffers()], torch.get_rng_state()

    def on_before_optimizer_step(self, trainer: pl.Trainer, pl_module: pl.LightningModule, optimizer: torch.optim.Optimizer) -> None:
        """The weights are about to change."""
        interrupts.hold()

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Note what the next batch will change."""
        self._before = None
        self._whole = not trainer.fit_loop._should_accumulate()
        self._loaders = _places(trainer)

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The last step of the epoch is whole."""
        if self._patient:
            self._agree(trainer)
        interrupts.release()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Figures, history and checkpoints of the epoch go together."""
        interrupts.hold()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The last epoch is recorded."""
        interrupts.release()

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        """Save, unless the newest checkpoint is as new."""
        if not interrupts.is_interrupt(exception):
            return
        interrupts.listen()  # Lightning is deaf to Ctrl-C by now; a second one ends the program
        if trainer.global_step == self._saved or not self._whole or (trainer.world_size > 1 and not self._agreed):
            return
        if trainer.is_global_zero:
            log.info("interrupted: saving step %d of epoch %d", trainer.global_step, trainer.current_epoch + 1)
        if self._before is not None:
            with torch.no_grad():
                for buffer, kept in zip(pl_module.buffers(), self._before[0], strict=True):
                    buffer.copy_(kept)
            torch.set_rng_state(self._before[1])
        self._ending = True
        trainer.save_checkpoint(self.path)

    def on_save_checkpoint(self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        """Note the step; on an interrupt put the counts of the loops right."""
        self._saved = trainer.global_step
        if self._ending:
            loops = _settled(checkpoint["loops"]["fit_loop"], trainer.validating)
            loops["state_dict"] = loops["state_dict"] | {"combined_loader": self._loaders}
            checkpoint["loops"]["fit_loop"] = loops

    def _agree(self, trainer: pl.Trainer) -> None:
        """Raise in all processes if a signal reached one of them and the last step was a whole one."""
        if self._whole and trainer.strategy.reduce_boolean_decision(interrupts.pending(), all=False):
            self._agreed = True
            raise KeyboardInterrupt


def _let_python_run(_: Tensor) -> None:
    """A signal is heard when Python runs: here between two operations of the backward pass."""


def _places(trainer: pl.Trainer) -> list[Any]:
    loader = trainer.fit_loop._combined_loader
    return [] if loader is None else loader._state_dicts()


def _settled(loops: Mapping[str, Any], validating: bool) -> dict[str, Any]:
    """The state of Lightning's fit loop with the step under way taken back; a validation under way is begun again."""
    settled = {name: _completed(node) if name.startswith("epoch_loop.") else node for name, node in loops.items()}
    if validating:
        key = "epoch_loop.val_loop.batch_progress"
        settled[key] = settled[key] | {"total": dict(_FIRST_BATCH), "current": dict(_FIRST_BATCH)}
    return settled


def _completed(node: Any) -> Any:
    """``node`` with every count of what was begun set to that of what was completed."""
    if not isinstance(node, Mapping):
        return node
    done = {key: _completed(value) for key, value in node.items()}
    return done | {key: done["completed"] for key in _COUNTS if key in done and "completed" in done}

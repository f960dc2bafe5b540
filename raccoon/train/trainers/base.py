"""What every trainer of values shares: a thin Lightning shell over pure functions, whatever its labels come from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import lightning.pytorch as pl
import torch
from torch import Tensor

from raccoon.contracts import RaccoonError
from raccoon.data.contract import Kind
from raccoon.model import checkpoint_file
from raccoon.model.network import RaccoonNet
from raccoon.train.ema import Ema
from raccoon.train.means import RunningMeans
from raccoon.train.objectives.losses import Losses, outcome_entropy, resolve_objective, sibling_mse, value_losses
from raccoon.train.objectives.targets import VALUE_TO_POINTS, equity_value
from raccoon.train.schedules import lr_factor
from raccoon.train.trainers.options import check_options

__all__ = ["ValueTrainer", "prepared"]

_SUMS = ("n", "squared_error", "target", "target_squared", "cross_entropy", "entropy")


class ValueTrainer(pl.LightningModule):
    """Trains the value head of ``net`` on batches ``(boards int8[N, 2, 25], probs6 float32[N, 6])``, both for the side on roll.

    A trainer derives from it and says where the labels come from; its further options are ``**options: Unpack[ValueOptions]``.

    ``objective``: ``equity`` (MSE on equity / 3), ``outcomes`` (cross-entropy), ``both`` (cross-entropy + ``equity_weight`` x MSE) or
    ``auto`` (by the head). ``optimizer``: called with the weights and ``lr``, gives the optimiser (null: Adam without weight decay).
    ``lr`` follows ``schedule`` per step after ``warmup_steps``. ``sibling_weight``: times the squared error of differences between
    plays of one turn (``losses.sibling_mse``), which needs batches that say which rows these are (``data.siblings=true``).
    ``ema_decay``: averaged weights are validated and exported (null: the weights themselves). ``gradient_clip_val``: largest
    gradient norm (null: none). The run ends after ``max_epochs``, or earlier after ``max_minutes``. ``checkpoint_minutes``:
    how often to save within an epoch as well (null: never). A policy head is left as it is: no target reaches it here.

    Validation logs, on held-out games: ``val/r2`` and ``val/mse`` of equity (points squared), ``val/ce`` (nats above the
    entropy of the labels). Raises RaccoonError for bad settings, naming the key.
    """

    needs: Kind = "positions"
    monitor: str | None = None
    monitor_without_pr: str | None = "val/mse"
    renamed: ClassVar[Mapping[str, str]] = {"arm": "objective", "gradient_clip": "gradient_clip_val"}

    def __init__(
        self,
        net: RaccoonNet,
        *,
        objective: str = "auto",
        lr: float = 1e-3,
        optimizer: Callable[..., Any] | None = None,
        betas: Sequence[float] = (0.9, 0.999),
        schedule: str = "cosine",
        warmup_steps: int = 0,
        equity_weight: float = 30.0,
        sibling_weight: float = 0.0,
        ema_decay: float | None = 0.999,
        gradient_clip_val: float | None = 1.0,
        max_epochs: int = 10,
        max_minutes: float | None = None,
        checkpoint_minutes: float | None = 5.0,
    ) -> None:
        check_options(locals())
        super().__init__()
        self.objective = resolve_objective(objective, net.has_probs)
        # steps of a small ResNet on a CPU are 1.6 times faster in this memory layout
        self.net = net.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
        if net.policy is not None:
            net.policy.requires_grad_(False)
        self.lr, self.betas, self.schedule, self.warmup_steps = lr, (betas[0], betas[1]), schedule, warmup_steps
        self._optimizer = optimizer
        self.equity_weight, self.sibling_weight, self.gradient_clip_val = equity_weight, sibling_weight, gradient_clip_val
        self.max_epochs, self.max_minutes, self.checkpoint_minutes = max_epochs, max_minutes, checkpoint_minutes
        self.meta: dict[str, Any] = {}
        self._ema = None if ema_decay is None else Ema(net, ema_decay)
        self._total_steps, self._log_steps = 1, 50
        self.means = RunningMeans()
        self._sums: Tensor = torch.zeros(len(_SUMS), dtype=torch.float64)

    @property
    def best_net(self) -> RaccoonNet:
        """The network that is validated and exported: the averaged weights where there are any."""
        return self.net if self._ema is None else cast(RaccoonNet, self._ema.net)

    def configure_optimizers(self) -> Any:
        """Adam and its per-step schedule over the whole run."""
        optimizer = self.optimizer()
        scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: lr_factor(step, kind=self.schedule, total=self._total_steps, warmup=self.warmup_steps)
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def optimizer(self) -> torch.optim.Optimizer:
        """The chosen optimiser over the weights that are trained; Adam when none is chosen."""
        return self._made(torch.optim.Adam, [parameter for parameter in self.net.parameters() if parameter.requires_grad])

    def _made(self, own: Callable[..., torch.optim.Optimizer], parameters: Sequence[Any]) -> torch.optim.Optimizer:
        """The chosen optimiser, or the trainer's ``own``, of weights or groups of them; ``betas`` and ``fused`` if it takes such."""
        make = self._optimizer or own
        known = inspect.signature(make).parameters
        more = {key: value for key, value in (("betas", self.betas), ("fused", self.fused)) if key in known}
        try:
            made = make(parameters, lr=self.lr, **more)
        except (TypeError, ValueError) as error:
            raise RaccoonError(f"trainer.optimizer: {error}") from error
        if not isinstance(made, torch.optim.Optimizer):
            raise RaccoonError(f"trainer.optimizer: {type(made).__name__} is no optimiser; optimizer=adam, adamw, sgd and muon are")
        return made

    @property
    def fused(self) -> bool:
        """Whether the optimiser is a fused one: Lightning does not clip the gradients of such in mixed precision."""
        return self._trainer is None or "mixed" not in str(self._trainer.precision)

    def on_fit_start(self) -> None:
        """Move the average to the device of the network."""
        if self._ema is not None:
            self._ema.to(self.device)
        self._sums = self._sums.to(self.device)

    def on_train_start(self) -> None:
        """Learn the length of the run: not when the optimiser is made, because asking then opens the data before Lightning
        has restored its place in it. The factor of the first step does not depend on the length."""
        self._total_steps = int(self.trainer.estimated_stepping_batches)
        self._log_steps = int(getattr(self.trainer, "log_every_n_steps", 50))
        if self.trainer.limit_val_batches and not sum(self.trainer.num_val_batches):
            raise RaccoonError("data.holdout: no game of this set is held out, so no epoch could be judged; raise it or use more games")

    def on_train_epoch_start(self) -> None:
        """Start the means; an epoch that a continued run enters in its middle goes on with those of its checkpoint."""
        self.means.clear()

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Loss of one batch."""
        boards, probs6, *siblings = batch
        losses = value_losses(self.net, prepared(self.net, boards), probs6, self.objective, self.equity_weight)
        total = losses.total
        if self.sibling_weight:
            if not siblings:
                raise RaccoonError(
                    f"trainer.sibling_weight={self.sibling_weight:g}: set data.siblings=true, which tells the plays of one turn"
                )
            total = total + self.sibling_weight * sibling_mse(losses.value, equity_value(probs6.float()), siblings[0])
        return self._noted(total, len(boards))

    def _noted(self, loss: Tensor, rows: int) -> Tensor:
        """``loss``, added up for the log. Step by step it is logged now and then only: Lightning's bookkeeping of a figure costs more
        than a small network's forward pass."""
        self.means.add({"train/loss": loss})
        if self.trainer.is_last_batch or (self.global_step + 1) % self._log_steps == 0:
            if not torch.isfinite(loss):
                raise RaccoonError(
                    f"the loss is {loss.item()} at step {self.global_step}: lower trainer.lr (or set trainer.gradient_clip_val)"
                )
            self.log("train/loss_step", loss.detach(), on_step=True, on_epoch=False, batch_size=rows)
        return loss

    @property
    def validated(self) -> tuple[str, ...]:
        """The figures that a validation logs."""
        return ("val/mse", "val/r2", *(["val/ce"] if self.net.has_probs else []))

    def epoch_figures(self) -> dict[str, Tensor]:
        """What the batches of the epoch were like so far; logged at its end."""
        return {name: mean.to(self.device) for name, mean in self.means.means().items()}

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then average and count: here, so that a checkpoint taken right after a batch holds all."""
        super().optimizer_step(*args, **kwargs)
        self.means.commit()
        if self._ema is not None:
            self._ema.update(self.net)

    def on_validation_epoch_start(self) -> None:
        """Start the sums."""
        self._sums = torch.zeros(len(_SUMS), dtype=torch.float64, device=self.device)

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        """Add one batch of held-out positions to the sums."""
        boards, probs6 = batch
        net = self.best_net
        self._judge(value_losses(net, prepared(net, boards), probs6, self.objective, self.equity_weight), probs6)

    def _judge(self, losses: Losses, probs6: Tensor) -> None:
        """Add the value head's errors on one batch to the sums."""
        target = equity_value(probs6.double()) * VALUE_TO_POINTS
        error = losses.value.double() * VALUE_TO_POINTS - target
        n = len(probs6)
        entropy = outcome_entropy(probs6) * n
        ce = entropy if losses.cross_entropy is None else losses.cross_entropy * n
        parts = (n, error.square().sum(), target.sum(), target.square().sum(), ce, entropy)
        self._sums += torch.stack([torch.as_tensor(part, dtype=torch.float64, device=self.device) for part in parts])

    def on_validation_epoch_end(self) -> None:
        """Log what the sums say."""
        total = cast(Tensor, self.trainer.strategy.reduce(self._sums, reduce_op="sum"))
        sums = dict(zip(_SUMS, total.tolist(), strict=True))
        if sums["n"] == 0:
            return
        spread = sums["target_squared"] - sums["target"] ** 2 / sums["n"]
        figures = {"val/mse": sums["squared_error"] / sums["n"], "val/r2": 1.0 - sums["squared_error"] / max(spread, 1e-12)}
        if self.net.has_probs:
            figures["val/ce"] = (sums["cross_entropy"] - sums["entropy"]) / sums["n"]
        self.log_dict(figures, rank_zero_only=False)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add what makes the file loadable as a network and the run exactly resumable."""
        checkpoint["raccoon"] = checkpoint_file.header(self.net, self.meta)
        checkpoint["rng"] = {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []}
        checkpoint["means"] = self.means.state_dict(torch.clone if self._trainer is None else self._trainer.strategy.reduce)
        if self._ema is not None:
            state = self._ema.state_dict()
            checkpoint["ema"], checkpoint["ema_updates"] = state["net"], state["updates"]

    def on_load_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        """Restore the average, the means and the random state."""
        self.means.load_state_dict(checkpoint.get("means", {}))  # files of earlier versions have none
        torch.set_rng_state(checkpoint["rng"]["cpu"].cpu())
        if torch.cuda.is_available() and len(checkpoint["rng"]["cuda"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all([state.cpu() for state in checkpoint["rng"]["cuda"]])
        if self._ema is not None:
            self._ema.load_state_dict({"net": checkpoint["ema"], "updates": checkpoint["ema_updates"]})


def prepared(net: RaccoonNet, boards: Tensor, dice: Tensor | None = None, mid: Tensor | None = None) -> Tensor:
    """The network's input (see ``RaccoonNet.prepare``); what is in main memory goes through the faster kernels for arrays."""
    on_cpu = boards.device.type == "cpu"
    more = [part.numpy() if on_cpu and part is not None else part for part in (dice, mid)]
    x = net.prepare(boards.numpy() if on_cpu else boards, *more)
    return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x

"""Training: rows a second through Lightning and the real loader, beside the same step on tensors that are already there."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import Callback

from raccoon.cli.program.composing import compose
from raccoon.data.datamodule import PositionData
from raccoon.data.label_sets.generate import SelfPlayLabels, generate
from raccoon.env.encoder import Encoder
from raccoon.executor import ProcessExecutor
from raccoon.model import RaccoonNet, build_net
from raccoon.train.ema import Ema
from raccoon.train.objectives.losses import value_losses
from raccoon.train.run import quiet_trainer
from raccoon.train.trainers.distill import Distillation

_GNUBG = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}
_PLAYER = {"_target_": "raccoon.play.EnginePlayer", "engine": _GNUBG}
_COPIES = 20
_WARM_UP = 6
_SHARE = 0.95


def rows(steps: int = 30, repeats: int = 9, batch: int = 512, models: tuple[str, ...] = ("resnet2x32", "mlp")) -> list[dict[str, Any]]:
    """Rates of one core, one row a model: ``path``, ``measured``, ``unit``, ``bound`` (95% of the bare step).

    Both are taken in turns, ``repeats`` times; ``measured`` is the median bare rate times the median ratio of a pair, since single
    runs differ by a fifth where the machine is shared. Processor time, so that the reading thread counts and other programs do not.
    """
    torch.set_flush_denormal(True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "set"
        generate(SelfPlayLabels(_PLAYER, _GNUBG, games=24, shard_games=24, concurrent=24), folder, ProcessExecutor(0, progress=False))
        for model in models:
            real, bare = [], []
            for _ in range(repeats):
                real.append(_real_rate(_net(model), folder, batch, steps))
                bare.append(_bare_rate(_net(model), folder, batch, steps))
            rate = statistics.median(bare)
            ratio = statistics.median(a / b for a, b in zip(real, bare, strict=True))
            found.append({"path": f"training step, {model}", "measured": ratio * rate, "unit": "rows/s", "bound": _SHARE * rate})
    torch.set_num_threads(threads)
    return found


def _net(model: str) -> RaccoonNet:
    from raccoon.config.instantiate import plain

    return build_net(plain(compose("train", [f"model={model}"]).model), Encoder(), seed=1)


def _data(folder: Path, batch: int) -> PositionData:
    return PositionData(folders=[str(folder)] * _COPIES, batch_size=batch, holdout=0.02)


class _Clock(Callback):
    """Seconds of processor time from the end of the warm-up to the end of the last step."""

    seconds = 0.0

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        if batch_idx == _WARM_UP - 1:
            self.seconds = -time.process_time()
        elif batch_idx == trainer.num_training_batches - 1:
            self.seconds += time.process_time()


def _real_rate(net: RaccoonNet, folder: Path, batch: int, steps: int) -> float:
    clock = _Clock()
    with quiet_trainer():
        trainer = pl.Trainer(
            accelerator="cpu",
            max_epochs=1,
            limit_train_batches=_WARM_UP + steps,
            limit_val_batches=0,
            callbacks=[clock],
            gradient_clip_val=1.0,
            logger=False,
            enable_checkpointing=False,
            enable_model_summary=False,
            enable_progress_bar=False,
        )
        trainer.fit(Distillation(net), datamodule=_data(folder, batch))
    return steps * batch / clock.seconds


def _bare_rate(net: RaccoonNet, folder: Path, batch: int, steps: int) -> float:
    """Forward, loss, backward, clipping, Adam and averaging on one batch that stays in memory."""
    data = _data(folder, batch)
    data.setup()
    boards, probs6 = next(iter(data.train_dataloader()))[:2]
    x = Distillation(net).net.prepare(boards.numpy())  # the same memory layout
    x = x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x
    if net.policy is not None:
        net.policy.requires_grad_(False)
    parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(parameters, fused=True)
    average = Ema(net, 0.999)
    start = 0.0
    for step in range(_WARM_UP + steps):
        if step == _WARM_UP:
            start = time.process_time()
        optimizer.zero_grad()
        value_losses(net, x, probs6, "both" if net.has_probs else "scalar", 1.0).total.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        average.update(net)
    return steps * batch / (time.process_time() - start)

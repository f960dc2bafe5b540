"""What is told of an epoch under way."""

from __future__ import annotations

import itertools
import logging
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from raccoon.train.callbacks import progress
from raccoon.train.callbacks.progress import EpochBar, EpochLines


def told(batches: range, total: int, seconds: float, every: float | None, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> list[str]:
    """The lines about ``batches``, each of which takes so many ``seconds``."""
    clock = itertools.count(1000.0, seconds)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    caplog.set_level(logging.INFO)
    trainer: Any = SimpleNamespace(is_global_zero=True, num_training_batches=total, current_epoch=1)
    module: Any = SimpleNamespace(epoch_figures=lambda: {"train/loss": torch.tensor(0.5)})
    lines = EpochLines(every)
    lines.on_train_epoch_start(trainer, module)
    for batch in batches:
        lines.on_train_batch_end(trainer, module, None, None, batch)
    return caplog.messages


def test_a_long_epoch_is_estimated_after_its_first_batches_and_told_every_half_minute(monkeypatch, caplog) -> None:
    assert told(range(100, 150), 1000, 2.0, 30.0, monkeypatch, caplog) == [
        "an epoch has 1,000 batches of 2 s: about 33 min",
        "epoch 2: batch 116 of 1,000, loss 0.5, 29 min left",
        "epoch 2: batch 131 of 1,000, loss 0.5, 29 min left",
        "epoch 2: batch 146 of 1,000, loss 0.5, 28 min left",
    ]


def test_a_terminal_has_a_bar_for_the_rest(monkeypatch, caplog) -> None:
    assert told(range(50), 5000, 4.0, None, monkeypatch, caplog) == ["an epoch has 5,000 batches of 4 s: about 5 h 33 min"]


def test_short_epochs_are_not_worth_a_line(monkeypatch, caplog) -> None:
    assert told(range(20), 20, 1.0, 30.0, monkeypatch, caplog) == []


def test_the_bar_shows_the_loss_and_no_number_of_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer: Any = SimpleNamespace(loggers=[SimpleNamespace(version=10)], progress_bar_metrics={"val/r2": 0.25})
    module: Any = SimpleNamespace(epoch_figures=lambda: {"train/loss": torch.tensor(1.23456)})
    assert EpochBar().get_metrics(trainer, module) == {"loss": "1.235", "val/r2": 0.25}

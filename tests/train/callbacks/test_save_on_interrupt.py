"""Ctrl-C in a training: what is done is kept wherever it comes, and the run that goes on ends as one that was left alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raccoon.runs import interrupts
from raccoon.train.callbacks.checkpoints import TIMED, peek
from raccoon.train.run import train
from raccoon.train.trainers.distill import Distillation

WITHIN = ("backward", "forward", "optimizer")
PLACES = (*WITHIN, "validation", "scored", "recorded")


def press(module: Distillation) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """``interrupt(place, step)``: press Ctrl-C there once, in or after training step number ``step`` (from 1) of the whole run."""

    def arm(place: str, step: int) -> None:
        def once(self: Distillation, done: int) -> None:
            nonlocal place
            if done == step and self.trainer.training == (place in (*WITHIN, "recorded")):
                place = "nowhere"
                press(self)

        def training_step(self: Distillation, batch: Any, batch_idx: int) -> Any:
            loss = original["training_step"](self, batch, batch_idx)
            if place == "forward":
                once(self, self.global_step + 1)
            if place == "backward":
                first = next(iter(self.net.parameters()))  # the last one that the backward pass comes to
                handle = first.register_hook(lambda _: (handle.remove(), once(self, self.global_step + 1))[0])
            return loss

        def optimizer_step(self: Distillation, *args: Any, **kwargs: Any) -> None:
            original["optimizer_step"](self, *args, **kwargs)
            if place == "optimizer":
                once(self, self.global_step + 1)

        def validation_step(self: Distillation, batch: Any, batch_idx: int) -> None:
            original["validation_step"](self, batch, batch_idx)
            if place == "validation":
                once(self, self.global_step)

        def on_validation_epoch_end(self: Distillation) -> None:
            original["on_validation_epoch_end"](self)
            if place == "scored":
                once(self, self.global_step)

        def on_train_epoch_end(self: Distillation) -> None:
            if place == "recorded":
                once(self, self.global_step)

        for hook in (training_step, optimizer_step, validation_step, on_validation_epoch_end, on_train_epoch_end):
            monkeypatch.setattr(Distillation, hook.__name__, hook)

    names = ("training_step", "optimizer_step", "validation_step", "on_validation_epoch_end")
    original = {name: getattr(Distillation, name) for name in names}
    return arm


@pytest.fixture(scope="module")
def config(make_config: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return make_config(max_epochs=2)


@pytest.fixture(scope="module")
def whole(config: dict[str, Any], open_at: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was left alone."""
    folder = tmp_path_factory.mktemp("kept") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("raccoon.train.final.PLOTS", {})
        train(config, open_at(folder, config))
    return folder


@pytest.mark.parametrize("place", PLACES)
def test_the_work_is_kept_wherever_the_interrupt_comes(config, whole, open_at, assert_same_end, interrupt, tmp_path: Path, place) -> None:
    epoch, cut, within = peek(whole / "last.ckpt")["global_step"] // 2, tmp_path / place, place in WITHIN
    step = 3 if within else epoch
    interrupt(place, step)
    with pytest.raises(SystemExit) as ended:
        train(config, open_at(cut, config))
    assert interrupts.is_interrupt(ended.value)
    if place == "recorded":  # the end of an epoch is written whole, and then there is nothing to add
        assert not (cut / TIMED).exists()
        assert peek(cut / "last.ckpt")["global_step"] == epoch
    else:
        assert not (cut / "last.ckpt").exists()
        assert peek(cut / TIMED)["global_step"] == step - (place in ("forward", "backward"))
    train(config, open_at(cut, config, resumed=True))
    assert_same_end(whole, cut, data=None)

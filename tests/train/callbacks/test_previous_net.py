"""The callback that plays the network against what it was: what it finds, and that it goes on where it stopped."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from raccoon import assets
from raccoon.contracts import RaccoonError
from raccoon.model import checkpoint_file
from raccoon.train.callbacks.previous_net import PreviousNet


class Module:
    def __init__(self, net: Any) -> None:
        self.best_net, self.logged = net, []

    def log_dict(self, figures: dict[str, float], **_: Any) -> None:
        self.logged.append(figures)


def trainer(epoch: int) -> Any:
    strategy = SimpleNamespace(broadcast=lambda value: value)
    return SimpleNamespace(current_epoch=epoch, sanity_checking=False, is_global_zero=True, strategy=strategy)


def after(callback: PreviousNet, module: Any, *epochs: int) -> list[dict[str, float]]:
    for epoch in epochs:
        callback.on_validation_epoch_end(trainer(epoch), module)
    return module.logged


def test_a_network_is_level_with_itself_and_the_epochs_between_carry_the_figure(make_net):
    """Eight games, whose interval is as narrow as this because the luck is taken out: results alone give 1.1 on either side."""
    module: Any = Module(checkpoint_file.load(assets.path(assets.NETS["prune"]))[0])
    callback = PreviousNet(every=2, games=8, turn_cap=300)
    callback.on_train_start(trainer(0), module)
    assert after(callback, module, 0) == []
    first, carried = after(callback, module, 1, 2)
    assert abs(first["val/v_previous"]) <= first["val/v_previous_ci"] < 0.5
    assert carried == first
    again = PreviousNet(every=2, games=8, turn_cap=300)
    again.load_state_dict(callback.state_dict())
    other: Any = Module(make_net())
    assert after(again, other, 2) == [first]


def test_better_than_before_is_above_zero_and_then_the_better_one_is_what_was_before():
    """Against weights that are all 0 and so rank no play above another; a continued run still has them."""
    net, _ = checkpoint_file.load(assets.path(assets.NETS["prune"]))
    worse, _ = checkpoint_file.load(assets.path(assets.NETS["prune"]))
    with torch.no_grad():
        for parameter in worse.parameters():
            parameter.zero_()
    module: Any = Module(worse)
    callback = PreviousNet(every=1, games=8, turn_cap=300)
    callback.on_train_start(trainer(0), module)
    continued = PreviousNet(every=1, games=8, turn_cap=300)
    continued.load_state_dict(callback.state_dict())
    module.best_net = net
    better, level = after(callback, module, 0, 1)
    assert better["val/v_previous"] > better["val/v_previous_ci"] > 0
    assert abs(level["val/v_previous"]) <= level["val/v_previous_ci"]
    same: Any = Module(net)
    continued.on_train_start(trainer(0), same)
    assert after(continued, same, 0) == [better]


def test_where_no_game_ends_there_is_no_figure(make_net):
    module: Any = Module(make_net())
    callback = PreviousNet(every=1, games=3, turn_cap=2)
    callback.on_train_start(trainer(0), module)
    assert after(callback, module, 0) == []
    assert math.isnan(callback.state_dict()["last"][0])


@pytest.mark.parametrize(("key", "value"), [("every", 0), ("games", 2), ("turn_cap", 0), ("seed", -1)])
def test_bad_settings_are_named(key, value):
    with pytest.raises(RaccoonError, match=rf"callbacks\.previous\.{key}="):
        PreviousNet(**{key: value})


def test_a_module_without_a_network_is_refused():
    with pytest.raises(RaccoonError, match="best_net"):
        PreviousNet().on_train_start(trainer(0), Module(None))  # pyright: ignore[reportArgumentType]


def test_a_state_of_before_is_read(make_net):
    callback = PreviousNet(every=2)
    state = {"net": torch.frombuffer(bytearray(checkpoint_file.dumps(make_net())), dtype=torch.uint8), "figures": [0.25, 0.125]}
    callback.load_state_dict(state)
    module: Any = Module(make_net())
    assert after(callback, module, 0) == [{"val/v_previous": 0.25, "val/v_previous_ci": 0.125}]
    assert callback.measured_in == -1

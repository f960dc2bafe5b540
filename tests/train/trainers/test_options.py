"""The options that trainers share: one list of names and types, the same checks for every trainer."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import lightning.pytorch as pl
import pytest

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, check_declared, plain
from raccoon.contracts import RaccoonError
from raccoon.train.trainers.alphazero import AlphaZero
from raccoon.train.trainers.base import ValueTrainer
from raccoon.train.trainers.distill import Distillation
from raccoon.train.trainers.joint import JointTrainer
from raccoon.train.trainers.options import JointOptions, ValueOptions
from raccoon.train.trainers.policy_value import PolicyValue
from raccoon.train.trainers.td import TemporalDifference

TRAINERS = (Distillation, TemporalDifference, PolicyValue, AlphaZero)
WRONG = [("lr", "fast"), ("max_epochs", 1.5), ("betas", 0.9), ("ema_decay", "no"), ("schedule", 3)]
WRONG_OF_BOTH_HEADS = [("policy_weight", "x"), ("value_weight", "x"), ("weight_decay", [0]), ("train", 1)]


def node(trainer: type, **options: Any) -> dict[str, Any]:
    return {"_target_": f"{trainer.__module__}.{trainer.__name__}", **options}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_wrong_name_is_refused_with_the_right_ones(trainer, make_net) -> None:
    with pytest.raises(RaccoonError, match=r"^trainer\.lrr: .* does not take that; it accepts .*\blr\b.*max_minutes"):
        build(node(trainer, lrr=1), "trainer", pl.LightningModule, net=make_net(policy=True))


@pytest.mark.parametrize(
    ("trainer", "key", "value"),
    [(trainer, *wrong) for trainer in TRAINERS for wrong in WRONG]
    + [(trainer, *wrong) for trainer in (PolicyValue, AlphaZero) for wrong in WRONG_OF_BOTH_HEADS],
)
def test_a_value_of_another_type_is_refused_whoever_declares_the_option(trainer, key, value, make_net) -> None:
    with pytest.raises(RaccoonError, match=rf"^trainer\.{key}=.*: give "):
        build(node(trainer, **{key: value}), "trainer", pl.LightningModule, net=make_net(policy=True))


@pytest.mark.parametrize(("options", "trainer"), [(ValueOptions, ValueTrainer), (JointOptions, JointTrainer)])
def test_the_lists_of_options_are_those_of_the_constructors(options, trainer) -> None:
    declared = typing.get_type_hints(trainer.__init__)
    own = {name for name, p in inspect.signature(trainer).parameters.items() if p.kind is p.KEYWORD_ONLY}
    listed = typing.get_type_hints(options)
    inherited = set() if options is ValueOptions else set(typing.get_type_hints(ValueOptions))
    assert set(listed) - inherited == own
    assert {name: listed[name] for name in own} == {name: declared[name] for name in own}


def test_no_trainer_is_a_kind_of_another() -> None:
    for trainer in TRAINERS:
        assert issubclass(trainer, ValueTrainer)
        assert not [other for other in TRAINERS if other is not trainer and issubclass(trainer, other)]


@pytest.mark.parametrize(("former", "objective"), [("scalar", "equity"), ("outcomes6", "outcomes"), ("both", "both")])
def test_configs_of_earlier_versions_mean_what_they_meant(former, objective, make_net) -> None:
    module = build(node(Distillation, objective="auto", arm=former, gradient_clip=0.5), "trainer", pl.LightningModule, net=make_net())
    assert (module.objective, module.gradient_clip_val) == (objective, 0.5)
    assert Distillation(make_net(), objective=former).objective == objective


def test_former_keys_are_understood_on_the_command_line(make_net) -> None:
    node = compose("train", ["trainer.arm=scalar", "trainer.gradient_clip=null"]).trainer
    check_declared(plain(node), "trainer")  # before anything is imported
    module = build(node, "trainer", pl.LightningModule, net=make_net())
    assert (module.objective, module.gradient_clip_val) == ("equity", None)
    with pytest.raises(RaccoonError, match=r"trainer\.objective=six: give one of"):
        build(compose("train", ["trainer.arm=six"]).trainer, "trainer", net=make_net())

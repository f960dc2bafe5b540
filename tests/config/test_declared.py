"""Signatures that are read from sources: those of the classes themselves, or none."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli.program import before
from raccoon.cli.program.composing import compose
from raccoon.config import instantiate as build
from raccoon.config.arguments import _parameters
from raccoon.config.declared import declared
from raccoon.config.instantiate import plain
from raccoon.config.targets import locate
from raccoon.contracts import RaccoonError
from raccoon.plugins import option_targets

LIGHTNING = "lightning.pytorch.Trainer"
TARGETS = sorted(name for name in option_targets() if not name.startswith("raccoon.cli."))


@pytest.mark.parametrize("target", [*TARGETS, LIGHTNING])
def test_a_declared_signature_is_that_of_the_target(target: str) -> None:
    if target == LIGHTNING:
        from lightning.pytorch import Trainer as found
    else:
        found = locate(target)
    stand_in = declared(target)
    assert stand_in is not None
    shape = [(one.name, one.kind, one.default is one.empty) for one in inspect.signature(found).parameters.values()]
    assert [(one.name, one.kind, one.default is one.empty) for one in inspect.signature(stand_in).parameters.values()] == shape
    (hints, defaults), (known, told) = _parameters(found), _parameters(stand_in)
    assert set(known) == set(hints)
    told_of = [name for name, hint in known.items() if hint is not Any]
    assert {name: _without_modules(known[name]) for name in told_of} == {name: _without_modules(hints[name]) for name in told_of}
    assert {name: value for name, value in told.items() if value is not ...} == {
        name: value for name, value in defaults.items() if told[name] is not ...
    }


def _without_modules(hint: Any) -> str:
    return re.sub(r"(\w+\.)+", "", str(hint))


def test_all_settings_of_a_trainer_are_told_by_its_source() -> None:
    stand_in = declared("raccoon.train.AlphaZero")
    assert stand_in is not None
    hints, _ = _parameters(stand_in)
    assert not [name for name, hint in hints.items() if hint is Any]
    assert {"lr", "value_bootstrap_alpha", "policy_weight"} < set(hints)


SOURCE = """
from __future__ import annotations
import functools
from collections.abc import Sequence
from typing import Any, ClassVar
from dataclasses import dataclass, field
from .others import Other as Renamed, Outside

Number = int

class Plain:
    def __init__(self, count: int, /, *rest: str, size: Number = 3, each: Sequence[float] = (), made: int = len("ab")) -> None: ...
    @classmethod
    def load(cls, path: str, odd: "missing.Name" = None): ...
    def method(self, path: str): ...

class Below(Plain):
    def __init__(self, *, extra: bool = False, **more: Any) -> None: ...

class Heir(Renamed): pass
class Strange(Outside): pass
class Kept(metaclass=type):
    def __init__(self, count: int) -> None: ...
class Made:
    def __new__(cls, *args: Any) -> Any: ...
    def __init__(self, count: int) -> None: ...
class Wrapped:
    @functools.cache
    def __init__(self, count: int) -> None: ...

@dataclass
class Data:
    count: int

@dataclass(frozen=True)
class More(Data):
    known: ClassVar[int] = 3
    word: str = "a"
    odd: Number = 3
    made: int = field(init=False)

@dataclass(kw_only=True)
class Keywords:
    count: int

@dataclass
class Mixed(Plain):
    count: int

@functools.cache
def cached(count: int): ...
def factory(count: int = 1): ...
raise RuntimeError("imported")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "declared_here"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "things.py").write_text(SOURCE)
    (folder / "others.py").write_text("class Other:\n    def __init__(self, word: str = 'a') -> None: ...\n")
    (folder / "broken.py").write_text("def (")
    monkeypatch.syspath_prepend(tmp_path)
    return "declared_here"


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "things.Plain",
            "(count: int, /, *rest: str, size: Any = Ellipsis, each: collections.abc.Sequence[float] = (), made: Any = Ellipsis)",
        ),
        ("things.Plain.load", "(path: str, odd: Any = None)"),
        ("things.Below", "(*, extra: bool = False, **more: Any)"),
        ("things.Heir", "(word: str = 'a')"),
        ("things.factory", "(count: int = 1)"),
        ("things.Data", "(count: int)"),
        ("things.More", "(count: int, word: str = 'a', odd: Any = 3)"),
    ],
)
def test_a_source_tells_what_it_can(package: str, name: str, signature: str) -> None:
    found = declared(f"{package}.{name}")
    assert found is not None
    assert str(inspect.signature(found)).replace("typing.", "") == signature.replace("size: Any = Ellipsis", "size: Any = 3")


@pytest.mark.parametrize(
    "name",
    ["things.Plain.method", "things.Strange", "things.Kept", "things.Made", "things.Wrapped", "things.Keywords", "things.Mixed",
    "things.cached",     "things.Missing", "things", "broken.X", "nowhere.X", "things.Plain.load.deeper"],
)  # fmt: skip
def test_what_a_source_does_not_tell_is_left_open(package: str, name: str) -> None:
    assert declared(f"{package}.{name}") is None
    assert declared("nothing_of_that_name.X") is None


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        ("train", "trainer.lr", "fast", "trainer.lr='fast': give a number"),
        ("train", "trainer.lr", -1, "trainer.lr=-1: give a number above 0"),
        ("train", "trainer.max_epochs", 0, "trainer.max_epochs=0: give"),
        ("train", "trainer.foo", 1, "trainer.foo: raccoon.train.Distillation does not take that"),
        ("train", "data.batch_size", "x", "data.batch_size='x': give a whole number"),
        ("train", "data.source.games", 1.5, "data.source.games=1.5: give a whole number"),
        ("train", "model.backbone.blocks", "x", "model.backbone.blocks='x': give a whole number"),
        ("train", "callbacks.pr.every", True, "callbacks.pr.every=True: give a whole number"),
        ("train", "callbacks.pr._target_", "os.system", "callbacks.pr._target_='os.system' may not be built"),
        ("train", "logger.csv.foo", 1, "logger.csv.foo: raccoon.train.csv_logger does not take that"),
        ("train", "runtime.num_nodes", "two", "runtime.num_nodes='two': give a whole number"),
        ("train", "runtime.foo", 1, "runtime.foo: lightning.pytorch.Trainer does not take that"),
        ("evaluate", "player.engine.path", 5, "player.engine.path=5: give a text"),
        ("evaluate", "player.engine", "abc", "player.engine='abc': give a node with _target_"),
        ("evaluate", "opponent.search", 5, "opponent.search=5: give a node with _target_ or null"),
        ("search", "search.foo", 5, "search.foo: raccoon.search."),
    ],
)
def test_wrong_settings_are_told_from_sources_alone(monkeypatch: pytest.MonkeyPatch, kind: str, key: str, value: Any, message: str) -> None:
    from omegaconf import OmegaConf, open_dict

    def never(*_: Any) -> Any:
        raise AssertionError("a target was imported")

    cfg = compose(kind)
    with open_dict(cfg):
        cfg.paths.run_dir = "x"
        OmegaConf.update(cfg, key, value)
    config = plain(cfg)
    monkeypatch.setattr(build, "locate", never)
    with pytest.raises(RaccoonError) as told:
        before.check(kind, config)
    assert str(told.value).startswith(message)

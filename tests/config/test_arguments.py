"""Config values against the annotations of what they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from raccoon.config.arguments import check_arguments
from raccoon.contracts import Engine, RaccoonError


class Base:
    def __init__(self, games: int | None = None, inherited: bool = False) -> None: ...


class Target(Base):
    def __init__(
        self,
        count: int = 1,
        share: float = 0.5,
        flag: bool = False,
        word: str = "a",
        maybe: int | None = None,
        choice: Literal["x", "y"] = "x",
        pair: Sequence[float] = (0.9, 0.999),
        sizes: tuple[int, ...] = (1,),
        table: Mapping[str, int] | None = None,
        path: str | Path = "p",
        engine: Engine | None = None,
        odd: int = "auto",  # pyright: ignore[reportArgumentType]  # sloppy annotations of others must not stop their defaults
        free: Any = None,
        **settings: Any,
    ) -> None: ...


RIGHT = [
    ("count", 3), ("share", 1), ("share", 0.1), ("flag", True), ("word", ""), ("maybe", None), ("maybe", 2), ("choice", "y"),
    ("pair", [0, 1]), ("sizes", [1, 2, 3]), ("table", {"a": 1}), ("table", None), ("path", "q"), ("odd", "auto"), ("free", "b"),
    ("engine", {"_target_": "x.Y"}), ("engine", None), ("games", 3), ("games", None), ("unknown", "left to the target"),
]  # fmt: skip
WRONG = [
    ("count", 2**63), ("maybe", -(2**63)), ("sizes", [10**30]),
    ("count", "3"), ("count", True), ("count", 1.0), ("count", None), ("count", [1]), ("share", "fast"), ("share", False),
    ("share", float("nan")), ("share", float("inf")), ("share", None), ("flag", "no"), ("flag", 1), ("flag", None), ("word", 5),
    ("word", None), ("maybe", "2"), ("maybe", 1.5), ("choice", "z"), ("choice", True), ("pair", 0.9), ("pair", ["a", 1]),
    ("sizes", [1, "b"]), ("table", [1]), ("table", {"a": "b"}), ("path", 3), ("engine", "gnubg0"), ("engine", 2), ("odd", "others"),
    ("games", "many"), ("inherited", "no"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_values_that_suit_pass(name: str, value: Any) -> None:
    check_arguments(Target, {name: value}, "here")


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_others_are_named(name: str, value: Any) -> None:
    with pytest.raises(RaccoonError, match=rf"^here\.{name}=.*: give "):
        check_arguments(Target, {name: value}, "here")


def test_the_message_says_what_to_give() -> None:
    for name, wanted in (
        ("count", "give a whole number"), ("maybe", "give a whole number or null"), ("choice", "give 'x' or 'y'"),
        ("pair", "give a list with a number each"), ("engine", "give a node with _target_ or null"), ("flag", "give true or false"),
    ):  # fmt: skip
        with pytest.raises(RaccoonError, match=f"^{name}=2.5: {wanted}$"):
            check_arguments(Target, {name: 2.5})


def test_functions_and_what_has_no_signature() -> None:
    def make(size: int) -> None: ...

    with pytest.raises(RaccoonError, match="size"):
        check_arguments(make, {"size": "big"})
    check_arguments(dict, {"anything": "x"})


def test_every_option_that_ships_suits_its_target() -> None:
    """The YAML files themselves are the sample: composing and checking every root must refuse nothing."""
    import importlib

    from raccoon.cli.program.composing import compose
    from raccoon.config.instantiate import plain

    def nodes(node: Any) -> Any:
        if isinstance(node, Mapping):
            if "_target_" in node:
                yield node
            for value in node.values():
                yield from nodes(value)

    roots = {"train": ["callbacks=early_stopping", "logger=[csv,wandb]"], "evaluate": ["evaluator=pr_table"], "generate": []}
    seen = 0
    for root, overrides in roots.items():
        for node in nodes(plain(compose(root, overrides))):
            parts = str(node["_target_"]).split(".")
            depth = next(i for i, part in enumerate(parts) if part[0].isupper() or i == len(parts) - 1)
            target: Any = importlib.import_module(".".join(parts[:depth]))
            for part in parts[depth:]:
                target = getattr(target, part)
            check_arguments(target, {key: value for key, value in node.items() if not key.startswith("_")}, parts[-1])
            seen += 1
    assert seen > 20

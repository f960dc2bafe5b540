"""Facades: every listed name is there, comes from its module, and nothing else does."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize("package", ["data", "engine", "env", "eval", "testing", "train"])
def test_a_facade_offers_what_it_lists(package: str) -> None:
    facade = importlib.import_module(f"raccoon.{package}")
    assert dir(facade) == sorted(facade.__all__)
    for name in facade.__all__:
        assert getattr(facade, name) is getattr(importlib.import_module(f"raccoon.{package}.{facade._HOMES[name]}"), name)
    with pytest.raises(AttributeError, match=f"module 'raccoon.{package}' has no attribute 'nothing'"):
        _ = facade.nothing

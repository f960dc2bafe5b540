"""Dotted keys of nested settings."""

from __future__ import annotations

from raccoon.flatten import leaves


def test_leaves_have_dotted_keys_and_empty_mappings_are_values() -> None:
    node = {"trainer": {"lr": 1, "betas": [0.9, {"a": 1}]}, "callbacks": {}, "seed": None, 3: {"x": {"y": 2}}}
    told = {"trainer.lr": 1, "trainer.betas": [0.9, {"a": 1}], "callbacks": {}, "seed": None, "3.x.y": 2}
    assert dict(leaves(node)) == told
    assert dict(leaves({"a": 1}, "at")) == {"at.a": 1}
    assert dict(leaves({})) == {}

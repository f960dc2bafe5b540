"""Conformance checks for plugin authors: one function a group, each taking an object or a config node.

They raise AssertionError that says what the contract wants. Import them in your own tests::

    from raccoon.testing import check_engine
    def test_mine(): check_engine({"_target_": "my_package.MyEngine"})
"""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

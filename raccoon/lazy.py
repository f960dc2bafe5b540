"""Package facades whose names are imported when they are first used, so that importing the package costs nothing.

The names stand once, in the stub beside ``__init__.py``: type checkers read it, and so does ``facade``.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["facade"]


def facade(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of ``package``, whose ``__init__.py`` is ``file``.

    Its stub has one line a name: ``from raccoon.package.module import Name as Name``.
    """
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {alias.name: str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    names = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return get, lambda: names, names

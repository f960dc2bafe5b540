"""Nested settings as one level, in the words of a command line: ``{"trainer": {"lr": 1}}`` is ``trainer.lr = 1``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["leaves", "shown"]


def leaves(node: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """The values below ``node``, which sits at the dotted key ``at``, each with its dotted key; an empty mapping is a value."""
    if not isinstance(node, Mapping) or (not node and at):
        yield at, node
        return
    for key, value in node.items():
        yield from leaves(value, f"{at}.{key}" if at else str(key))


def shown(value: Any) -> str:
    """A setting as the command line says it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

"""Keys on a command line that the composed config may not have: those of earlier versions (``trainer.arm=scalar`` still works;
``config.instantiate`` gives them their present names), and those below ``stages``, whose stages list but what they set."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["understood"]

_KEYS = (
    r"trainer\.(?:arm|gradient_clip)",
    r"(?:evaluator|data\.source|data\.source\.positions)\.batch",
    r"(?:opponent\.)?cube\.turns",
    r"stages(?:\.\w+)+",
)
_ADDED = re.compile(rf"(?:{'|'.join(_KEYS)})=")


def understood(arguments: Iterable[str]) -> list[str]:
    """``arguments`` with ``++`` before overrides of such keys, so that Hydra adds what the composed config does not have."""
    return [f"++{word}" if _ADDED.match(word) else word for word in arguments]

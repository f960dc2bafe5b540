"""Keys of earlier versions on a command line: ``trainer.arm=scalar`` still works. ``config.instantiate`` gives them their present names."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["KEYS", "understood"]

KEYS = ("trainer.arm", "trainer.gradient_clip")
_FORMER = re.compile(rf"(?:{'|'.join(map(re.escape, KEYS))})=")


def understood(arguments: Iterable[str]) -> list[str]:
    """``arguments`` with ``++`` before overrides of former keys, so that Hydra adds what the composed config does not have."""
    return [f"++{word}" if _FORMER.match(word) else word for word in arguments]

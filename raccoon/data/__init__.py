"""Labelled positions: the packed store, how sets are made, and the DataModule that training reads them through."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raccoon.data.datamodule import PositionData
    from raccoon.data.generate import SelfPlayLabels
    from raccoon.data.relabel import Relabelled
    from raccoon.data.store import PositionStore
    from raccoon.data.wildbg import WildbgImport
    from raccoon.data.writer import prepare

__all__ = ["PositionData", "PositionStore", "Relabelled", "SelfPlayLabels", "WildbgImport", "prepare"]

_HOMES = {
    "PositionData": "datamodule",
    "PositionStore": "store",
    "Relabelled": "relabel",
    "SelfPlayLabels": "generate",
    "WildbgImport": "wildbg",
    "prepare": "writer",
}


def __getattr__(name: str) -> Any:
    """Lazy: the DataModule pulls in torch and Lightning, the rest does not."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)

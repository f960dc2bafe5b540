"""Labelled positions: the packed store, how sets are made, and the DataModule that training reads them through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.data.datamodule import PositionData
    from raccoon.data.label_sets.generate import SelfPlayLabels
    from raccoon.data.label_sets.relabel import Relabelled
    from raccoon.data.label_sets.store import PositionStore
    from raccoon.data.label_sets.wildbg import WildbgImport
    from raccoon.data.label_sets.writer import prepare

__all__ = ["PositionData", "PositionStore", "Relabelled", "SelfPlayLabels", "WildbgImport", "prepare"]

_HOMES = {
    "PositionData": "datamodule",
    "PositionStore": "store",
    "Relabelled": "relabel",
    "SelfPlayLabels": "generate",
    "WildbgImport": "wildbg",
    "prepare": "writer",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

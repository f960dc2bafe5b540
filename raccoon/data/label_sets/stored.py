"""A set that exists, as a source: its positions under the labels they have, for what is made from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.checks import whole
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.rows import ROW
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.label_sets.writer import Plan

__all__ = ["Stored"]


class Stored:
    """The labelled positions in ``folder``; ``shards`` takes the first shards only."""

    def __init__(self, folder: str, shards: int | None = None, name: str = "stored") -> None:
        self.folder, self.name = folder, name
        self.shards = None if shards is None else whole("data.source.positions.shards", shards, 1)

    def plan(self) -> Plan:
        """Check the set. Raises RaccoonError naming a folder that cannot be used."""
        store = PositionStore.open(self.folder, shards=self.shards)
        if store.dtype != ROW:
            raise RaccoonError(
                f"data.source.positions.folder={self.folder}: holds {store.meta['format']}; name a set of labelled positions"
            )
        job = {"folder": str(Path(self.folder).resolve()), "shards": len(store.indices)}
        about = {"stored": store.fingerprint}
        return Plan({"kind": "stored", "source": store.fingerprint}, stored_shard, job, len(store.indices), f"rows {self.name}", about)


def stored_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": ROW[n]}``: shard ``index`` as it is."""
    return {"rows": PositionStore.open(job["folder"], shards=job["shards"]).shard(index)}

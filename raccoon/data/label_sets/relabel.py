"""The positions of one set under the labels of another teacher, or of the same one at another ply."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.checks import whole
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.generate import identity_of, label, teacher_of
from raccoon.data.label_sets.rows import ROW, pack, unpack5
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.label_sets.writer import Plan, fill
from raccoon.executor import Executor
from raccoon.progress import expect

__all__ = ["Relabelled", "relabel"]

_PARTS = 10  # of a shard, each for a worker


class Relabelled:
    """The set in ``folder``, labelled by ``teacher`` (the config node of an Engine that knows the outcome distribution).

    ``shards`` takes the first shards only. Games keep their numbers, so the same games are held out.
    """

    def __init__(self, folder: str, teacher: Mapping[str, Any], shards: int | None = None, name: str = "relabelled") -> None:
        self.folder = folder
        self.teacher = dict(teacher)
        self.shards = shards
        self.name = name

    def plan(self) -> Plan:
        """Check the set and the settings; RaccoonError names the bad one."""
        if self.shards is not None:
            whole("data.source.shards", self.shards, 1)
        if "_target_" not in self.teacher:
            raise RaccoonError("data.source.teacher: give the config node of an engine, with a _target_")
        store = PositionStore.open(self.folder, shards=self.shards)
        if store.dtype != ROW:
            raise RaccoonError(f"data.source.folder={self.folder}: holds {store.meta['format']}; name a set of labelled positions")
        identity = {"kind": "relabel", "source": store.fingerprint, "teacher": identity_of(self.teacher)}
        job = {"folder": str(Path(self.folder).resolve()), "teacher": self.teacher, "shards": len(store.indices)}
        about = {"teacher": self.teacher, "relabelled": store.fingerprint}
        label = f"labels {self.name}"
        return Plan(identity, relabel_shard, job, len(store.indices), label, about, part=relabel_part, parts=_PARTS, unit="rows")


def relabel(folder: Path | str, out: Path | str, teacher: Mapping[str, Any], executor: Executor) -> PositionStore:
    """Label the set in ``folder`` again by ``teacher`` into ``out``; resumable like any set (``raccoon.data.label_sets.writer.fill``)."""
    return fill(Relabelled(str(folder), teacher).plan(), out, executor)


def relabel_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": ROW[n]}``: shard ``index`` of the source with new labels."""
    return {"rows": np.concatenate([relabel_part(job, index * _PARTS + number)["rows"] for number in range(_PARTS)])}


def relabel_part(job: Mapping[str, Any], task: int) -> dict[str, Any]:
    """``{"rows": ROW[n]}``: some rows of a shard, ``task`` counting the parts of all shards."""
    index, number = divmod(task, _PARTS)
    rows = np.array_split(_source(job["folder"], job["shards"]).shard(index), _PARTS)[number]
    expect(len(rows))
    boards, _ = unpack5(rows)
    return {"rows": pack(boards, label(teacher_of(job["teacher"]), boards), rows["game"], rows["turn"], rows["provenance"])}


@lru_cache(maxsize=1)
def _source(folder: str, shards: int) -> PositionStore:
    """The set that is labelled again: opened, and all of it checked, once a worker."""
    return PositionStore.open(folder, shards=shards)

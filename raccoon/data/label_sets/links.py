"""A set whose shards lie elsewhere: what a run used of a set, under a path of its own, whatever becomes of that set."""

from __future__ import annotations

import os
from pathlib import Path

from raccoon.data.label_sets.store import META, PositionStore, shard_path, signed
from raccoon.files import write_json

__all__ = ["link_set"]


def link_set(store: PositionStore, folder: Path) -> None:
    """Make ``folder`` a complete set of the shards of ``store``, as links to their files; links of before are replaced.

    Others may let the set in ``store.folder`` grow: this one stays as it is.
    """
    folder.mkdir(exist_ok=True)
    (folder / META).unlink(missing_ok=True)
    for old in folder.glob("shard-*.npy"):
        old.unlink()
    for index in store.indices:
        target = shard_path(store.folder.resolve(), index)
        shard_path(folder, index).symlink_to(os.path.relpath(target, folder.resolve()))
    listed = {str(index): store.meta["shards"][str(index)] for index in store.indices}
    write_json(folder / META, signed({**store.meta, "complete": True, "rows": len(store), "shards": listed}))

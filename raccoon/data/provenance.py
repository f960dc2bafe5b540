"""What a training learns from, in words and digests: label sets with their teachers, or the settings of self-play."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from raccoon.data.label_sets.store import PositionStore

__all__ = ["describe_data", "describe_set"]

_TOLD = ("label", "teacher", "player", "seed", "games", "files", "complete", "versions")
_MACHINE = ("executor", "data_dir", "actors", "actor_games")  # none changes a row


def describe_data(data: Any, node: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data about a DataModule that is set up and the config ``node`` it was built from: ``{"sets": [...]}`` where it reads
    label sets, else ``{"settings": {...}}``, the node without what changes no row."""
    stores = getattr(data, "stores", None)
    if isinstance(stores, list) and stores and all(isinstance(store, PositionStore) for store in stores):
        return {"sets": [describe_set(store) for store in stores]}
    return {"settings": {key: value for key, value in node.items() if key not in _MACHINE}}


def describe_set(store: PositionStore) -> dict[str, Any]:
    """Folder name, rows, fingerprint, what ``meta.json`` tells (teacher, seed, versions, ..), and a digest.

    The digest is a SHA-256 over what the rows are (the fingerprint) and every shard's row count and checksum: two sets with the
    same digest hold the same rows, unless one was altered within a shard.
    """
    shards = {str(index): store.meta["shards"][str(index)] for index in store.indices}
    listing = [store.meta["format"], store.fingerprint, [[key, shard["rows"], shard["sum"]] for key, shard in shards.items()]]
    digest = hashlib.sha256(json.dumps(listing).encode()).hexdigest()[:16]
    told = {key: store.meta[key] for key in _TOLD if key in store.meta}
    return {"folder": store.folder.name, "rows": len(store), "fingerprint": store.fingerprint, "digest": digest, **told}

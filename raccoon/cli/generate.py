"""``python -m raccoon.cli.generate``: make a set of labelled positions, or finish one that was interrupted."""

from __future__ import annotations

import time
from typing import Any

from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section
from raccoon.runs.folder import Run

__all__ = ["main"]


def _job(config: dict[str, Any], run: Run) -> None:
    from raccoon.config.instantiate import build
    from raccoon.contracts import RaccoonError
    from raccoon.data.label_sets.store import PositionStore
    from raccoon.data.label_sets.writer import Source, fill, prepare
    from raccoon.executor import Executor

    node = (section(config, "data") or {}).get("source")
    if not node:
        raise RaccoonError("data.source: nothing to generate; choose data=demo, gnubg0, gnubg1, policy, matches, relabel or wildbg")
    executor = build(section(config, "executor"), "executor", Executor)
    source = build(node, "data.source", Source)
    start = time.monotonic()
    folder, data_dir, minutes = config["folder"], config["data"].get("data_dir", config["paths"]["data_dir"]), config["data"].get("minutes")
    store: PositionStore
    store = fill(source.plan(), folder, executor, minutes) if folder else prepare(source, data_dir, executor, minutes)
    shards = "1 shard" if len(store.indices) == 1 else f"{len(store.indices):,} shards"
    print(f"set: {store.folder} ({len(store):,} rows, {shards}, {time.monotonic() - start:.0f} s)")


def main() -> None:
    """Label positions; see ``--help``."""
    run_command("generate", _job)


if __name__ == "__main__":
    main()

"""Random bear-offs under the labels of a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.generate import identity_of, label, teacher_of
from raccoon.data.label_sets.rows import IMPORTED, pack
from raccoon.data.label_sets.writer import Plan
from raccoon.rng import generator


class Bearoffs:
    """``shards`` of ``shard_rows`` positions with ``checkers`` a side, all at home. ``teacher``: an engine's node."""

    def __init__(
        self,
        teacher: Mapping[str, Any],
        checkers: int = 15,
        shards: int = 8,
        shard_rows: int = 20000,
        seed: int = 1,
        name: str = "my_bearoffs",
    ) -> None:
        self.knobs = {"teacher": dict(teacher), "checkers": checkers, "shard_rows": shard_rows, "seed": seed}
        self.shards = shards
        self.name = name

    def plan(self) -> Plan:
        if not 1 <= self.knobs["checkers"] <= 15:
            raise RaccoonError(f"data.source.checkers={self.knobs['checkers']}: give 1 to 15")
        identity = {"kind": "my_bearoffs", **self.knobs, "teacher": identity_of(self.knobs["teacher"])}
        return Plan(identity, bearoff_shard, self.knobs, self.shards, f"labels {self.name}", {"teacher": self.knobs["teacher"]})


def bearoff_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """``{"rows": ROW[shard_rows]}``; a pure function of (job, index)."""
    rows = job["shard_rows"]
    rng = generator(job["seed"], "my bearoffs", index)
    boards = np.zeros((rows, 2, 25), np.int8)
    boards[:, :, :6] = rng.multinomial(job["checkers"], [1 / 6] * 6, size=(rows, 2))
    game = index * rows + np.arange(rows)  # every position is a game of its own for the holdout
    return {"rows": pack(boards, label(teacher_of(job["teacher"]), boards), game, np.zeros(rows), IMPORTED)}

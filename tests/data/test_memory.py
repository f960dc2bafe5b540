"""Forty million rows train within two gigabytes of memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from raccoon.data.label_sets.store import META, PositionStore, checksum, shard_path, signed
from raccoon.files import file_digest

_ROWS = 40_000_000
_SHARDS = 800
_READ = """
import resource, sys
from raccoon.data.datamodule import PositionData
data = PositionData(folders=sys.argv[1], batch_size=4096, holdout=0.005)
data.setup()
assert len(data.order) > 39_000_000
for n, (boards, probs) in enumerate(data.train_dataloader()):
    if n == 1000:
        break
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.slow
def test_forty_million_rows_fit_in_two_gigabytes(small: PositionStore, tmp_path: Path) -> None:
    shard = np.resize(small.shard(0), _ROWS // _SHARDS)
    meta = {**small.meta, "rows": _ROWS, "shards": {}}
    for index in range(_SHARDS):
        shard["game"] = np.sort(shard["game"]) + 4 * index
        np.save(shard_path(tmp_path, index), shard)
        meta["shards"][str(index)] = {"rows": len(shard), "sum": checksum(shard), "sha256": file_digest(shard_path(tmp_path, index))}
    (tmp_path / META).write_text(json.dumps(signed(meta)))
    done = subprocess.run([sys.executable, "-c", _READ, str(tmp_path)], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 2048

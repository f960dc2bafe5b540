"""One way to run shards: ``shard(job, index) -> dict of arrays``, a pure function of (job, index).

``job`` is a plain, picklable dict (config and seed); the function lives at module level. A shard that was lost with
its worker is run again.
"""

from raccoon.executor.base import Executor, PersistentExecutor, ResultStream, Shard, Workers, core_count
from raccoon.executor.processes import ProcessExecutor
from raccoon.executor.ray import RayExecutor
from raccoon.executor.shards import check_units, fingerprint, run_shards, shard_size
from raccoon.progress import Work

__all__ = [
    "Executor",
    "PersistentExecutor",
    "ProcessExecutor",
    "RayExecutor",
    "ResultStream",
    "Shard",
    "Work",
    "Workers",
    "check_units",
    "core_count",
    "fingerprint",
    "run_shards",
    "shard_size",
]

KeepsWorkers, Started = PersistentExecutor, ResultStream  # their names in earlier versions, for plugins

"""Loads a benchmark: one of the three files that ship with Raccoon, a compact file (``raccoon.eval.benchmark.compact``) or the JSON
exchange format, plain or gzipped (``raccoon.eval.benchmark.exchange``)."""

from __future__ import annotations

import functools
import stat
from pathlib import Path

from raccoon import assets
from raccoon.contracts import RaccoonError
from raccoon.eval.benchmark import compact, exchange
from raccoon.eval.benchmark.decisions import Benchmark

__all__ = ["CHOOSING", "EMBEDDED", "MEASURED", "SHIPPED", "load", "locate"]

EMBEDDED = "embedded"
"""The benchmark that results are reported on."""
CHOOSING = "choosing"
"""Another one, of other games, to choose networks and epochs by: what is chosen there may be reported on the first."""
MEASURED = "measured"
"""Decisions of the first one whose references were rolled out to the end of the game, the cube included."""
SHIPPED = tuple(assets.BENCHMARKS)
_GIVE = f"give {', '.join(SHIPPED)} or the path of a benchmark file"


def locate(source: str | Path) -> Path:
    """The file of ``source``: a path, or the name of one that ships with Raccoon: ``"embedded"``, ``"choosing"``, ``"measured"``."""
    return assets.path(assets.BENCHMARKS[str(source)]) if str(source) in SHIPPED else Path(source)


def load(source: str | Path = EMBEDDED, key: str = "evaluator.benchmark") -> Benchmark:
    """The benchmark in ``source``, a name or a path (``locate``), given under ``key``. Raises RaccoonError naming the file and the
    decision at fault.

    Kept in memory: loading the same unchanged file again is free.
    """
    path = locate(source)
    try:
        state = path.stat()
    except OSError as error:
        raise RaccoonError(f"{key}={source}: {error.strerror}; {_GIVE}") from error
    if not stat.S_ISREG(state.st_mode):
        raise RaccoonError(f"{key}={source}: is no file; {_GIVE}")
    return _load(str(path), str(source) if str(source) in SHIPPED else str(path), state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=len(SHIPPED))
def _load(path: str, source: str, mtime: int, size: int) -> Benchmark:
    try:
        with open(path, "rb") as handle:
            magic = handle.read(6)
    except OSError as error:
        raise RaccoonError(f"{path}: cannot be read ({error.strerror})") from error
    if magic == compact.MAGIC:
        return compact.read(path, source)
    return exchange.read(path, source)

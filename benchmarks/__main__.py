"""Runs every ``bench_*.py`` beside this file, or the named ones, and prints one table; exits 1 when a bound is missed.

Each file has ``rows() -> list[dict]`` with ``path``, ``measured``, ``unit`` and ``bound``; more is better in every unit.
"""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import compare

__all__ = ["main"]


def main(names: Sequence[str]) -> int:
    """Run the benchmarks ``names`` (all when empty); returns the exit status."""
    if names[:1] == ["compare"]:
        return compare.main(names[1:])
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"error: no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("path", "unit", title="speed (more is better)")
    for head in ("measured", "bound", "ratio"):
        table.add_column(head, justify="right")
    table.add_column("")
    missed = 0
    for name in known:
        if names and name not in names:
            continue
        began = time.perf_counter()
        try:
            for row in importlib.import_module(f"benchmarks.bench_{name}").rows():
                missed += not _ok(row)
                table.add_row(*_cells(row))
        except Exception:
            traceback.print_exc()
            missed += 1
            table.add_row(f"bench_{name}.py", "", "failed", "", "", "MISS")
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    console.print(table)
    return int(missed > 0)


def _ok(row: dict[str, Any]) -> bool:
    return row["measured"] >= row["bound"]


def _cells(row: dict[str, Any]) -> list[str]:
    ratio = row["measured"] / row["bound"]
    verdict = "ok" if _ok(row) else f"MISS by {1 - ratio:.0%}"
    return [row["path"], row["unit"], f"{row['measured']:,.4g}", f"{row['bound']:,.4g}", f"{ratio:.2f}", verdict]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

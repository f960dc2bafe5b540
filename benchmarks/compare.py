"""``python -m benchmarks compare FOLDER [rounds=N] [NAME ...]``: the hot paths of this checkout beside those of another one.

Both run in this Python, in processes of their own on one core, and take turns of some 50 ms: A B B A and so on. Seconds are processor
time, so that other programs matter little. A round is one pair of fresh processes: what stays the same in a process, such as where
its memory lies, is drawn anew. The ratio of a path is the mean over rounds of the median of its pairs, with Student's interval.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.hot_paths import HOT_PATHS
from raccoon.contracts import RaccoonError
from raccoon.stats import mean_ci

__all__ = ["LIMIT", "main", "report"]

LIMIT = 1.02
"""Time here over time there: a path whose whole interval lies above it is slower."""
_PAIRS = 8
_TURN = 0.05
_HERE = Path(__file__).resolve().parent
_Pairs = tuple[list[float], list[float]]


def main(arguments: Sequence[str]) -> int:
    """Print the table; the exit status: 1 where a path is slower, 2 for bad arguments."""
    rounds = [text.removeprefix("rounds=") for text in arguments if text.startswith("rounds=")]
    words = [text for text in arguments if not text.startswith("rounds=")]
    count = int(rounds[-1]) if rounds and rounds[-1].isdecimal() else 0 if rounds else 5
    if not words or count < 2:
        print("error: give python -m benchmarks compare FOLDER [rounds=N, 2 or more] [NAME ...]", file=sys.stderr)
        return 2
    folder, names = Path(words[0]), [name for name in HOT_PATHS if len(words) < 2 or any(word in name for word in words[1:])]
    if not (folder / "raccoon" / "__init__.py").is_file():
        print(f"error: {folder}: no checkout of Raccoon", file=sys.stderr)
        return 2
    if not names:
        print(f"error: no such path; there are {'; '.join(HOT_PATHS)}", file=sys.stderr)
        return 2
    rounds_of: dict[str, list[_Pairs]] = {name: [] for name in names}
    try:
        for number in range(count):
            for name, pairs in _round(folder, names).items():
                rounds_of[name].append(pairs)
            print(f"round {number + 1} of {count}", file=sys.stderr)
    except RaccoonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return report(folder, rounds_of)


def _round(folder: Path, names: Sequence[str]) -> dict[str, _Pairs]:
    """Seconds of one call of each path, here and there, pair by pair."""
    found: dict[str, _Pairs] = {}
    core = max(os.sched_getaffinity(0))
    with _start(_HERE.parent, core) as ours, _start(folder, core) as theirs:
        for name in names:
            once = min(_ask(each, name, 1) for each in (ours, theirs))
            calls = max(1, round(_TURN / max(once, 1e-6)))
            pairs: _Pairs = ([], [])
            for pair in range(_PAIRS):
                for side in (0, 1) if pair % 2 else (1, 0):
                    pairs[side].append(_ask((ours, theirs)[side], name, calls))
            found[name] = pairs
        for worker in (ours, theirs):
            assert worker.stdin
            worker.stdin.close()
    return found


def _start(folder: Path, core: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(_HERE / "compare_worker.py"), str(folder)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    os.sched_setaffinity(worker.pid, {core})
    return worker


def _ask(worker: subprocess.Popen[str], name: str, calls: int) -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(json.dumps({"path": name, "calls": calls}), file=worker.stdin, flush=True)
    line = worker.stdout.readline()
    answer: Any = json.loads(line) if line else {"error": "the process ended"}
    if isinstance(answer, dict):
        assert isinstance(worker.args, list)
        raise RaccoonError(f"{name} in {worker.args[-1]}: {answer['error']}")
    return float(answer)


def report(folder: Path, rounds_of: Mapping[str, Sequence[_Pairs]]) -> int:
    """Print the table of what was measured, of each path seconds here and there in every round; 1 where a path is slower, else 0."""
    table = Table("path", title=f"processor time of a call, here v {folder}")
    for head in ("there", "here", "ratio", "95%"):
        table.add_column(head, justify="right")
    table.add_column("")
    slower = 0
    for name, rounds in rounds_of.items():
        figure = mean_ci(np.array([statistics.median(a / b for a, b in zip(*pairs, strict=True)) for pairs in rounds]))
        assert figure.lo is not None
        assert figure.hi is not None
        worse = figure.lo > LIMIT
        slower += worse
        cells = [f"{1e3 * min(min(pairs[side]) for pairs in rounds):.3g} ms" for side in (1, 0)]
        table.add_row(name, *cells, f"{figure.value:.3f}", f"{figure.lo:.3f} to {figure.hi:.3f}", "SLOWER" if worse else "")
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return int(slower > 0)

"""Disks that run full or cannot be written: ``python -m benchmarks.full_disks [JOB ...] folder=DIR rounds=40 seed=1`` as root.

Every job runs once with room. Then it runs in a file system of its own (a tmpfs) that holds the run and data folder (and the cache, for
the bear-off table) and has room for a random part of what the job leaves (none at all in the first round, mounted read-only in the
second). It must end with status 2 and one message that names a file, without a traceback, or come to its end; the same command must
then, with room, leave what the first run left and nothing more.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.interrupts import reference, run
from benchmarks.interrupts_jobs import JOBS, Job, warm
from benchmarks.interrupts_trees import Tree, differences, tree

__all__ = ["main"]

_SAID = re.compile(r"^error: .*(?:cannot|could not) .*", re.MULTILINE)


def main(arguments: Sequence[str]) -> int:
    """Run the rounds and print the table; returns 1 when a round went wrong."""
    given = {"folder": "", "rounds": "40", "seed": "1"} | dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    names = [argument for argument in arguments if "=" not in argument] or list(JOBS)
    if not given["folder"] or not set(names) <= set(JOBS):
        print(f"{__doc__}\njobs: {', '.join(JOBS)}", file=sys.stderr)
        return 2
    home = Path(given["folder"]).resolve()
    home.mkdir(parents=True, exist_ok=True)
    warm(home)
    rows: list[dict[str, Any]] = []
    for number in range(int(given["rounds"])):
        job = JOBS[names[number % len(names)]]
        draw = random.Random(f"{given['seed']} {job.name} {number}")
        rows.append(_round(job, home, number // len(names), reference(job, home)[1], draw))
        print(f"{time.strftime('%H:%M:%S')} {json.dumps(rows[-1])}", flush=True)
    print("| job | rounds | refused | ended all the same | faults |\n|---|---:|---:|---:|---:|")
    for name in names:
        mine = [row for row in rows if row["job"] == name]
        refused, faults = sum(row["status"] == 2 for row in mine), sum(bool(row["faults"]) for row in mine)
        print(f"| {name} | {len(mine)} | {refused} | {sum(row['status'] == 0 for row in mine)} | {faults or 'none'} |")
    return int(any(row["faults"] for row in rows))


def _round(job: Job, home: Path, number: int, whole: Tree, draw: random.Random) -> dict[str, Any]:
    """One job on one small disk, and the same command with room."""
    place = home / job.name / "disk"
    place.mkdir(parents=True, exist_ok=True)
    left = home / job.name / "reference"
    size = sum(path.stat().st_size for path in left.rglob("*") if path.is_file())
    room = 0 if number < 2 else draw.randrange(4096, max(size, 8192)) // 4096 * 4096
    row: dict[str, Any] = {"job": job.name, "room": "read-only" if number == 1 else f"{room >> 10} kB of {size >> 10}", "faults": []}
    _mount("-t", "tmpfs", "-o", f"size={room + (1 << 20)}", "tmpfs", place)
    try:
        filler = _prepare(place, room)
        if number == 1:
            _mount("-o", "remount,ro", place)
        ended = run(job, home, place, None, 0.0, place.with_suffix(".output"))
        row |= {"status": ended["status"], "said": "".join(_SAID.findall(ended["said"]))[:160]}
        row["faults"] += _faults(ended)
        _mount("-o", "remount,rw,size=200m", place)
        filler.unlink(missing_ok=True)
        if differences(whole, tree(place)):
            again = run(job, home, place, None, 0.0, place.with_suffix(".output"))
            if again["status"]:
                row["faults"].append(f"again: exit status {again['status']}: {again['said'][-300:]}")
            row["faults"] += differences(whole, tree(place))
        if row["faults"]:
            shutil.copytree(place, place.with_name(f"fault-{time.time_ns()}"))
    finally:
        subprocess.run(["umount", place], check=True)
    return row


def _prepare(place: Path, room: int) -> Path:
    """Folders that the harness needs, and a file that takes all but ``room``."""
    (place / "tmp").mkdir()
    (place / "output").touch()
    filler = place / ".filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as handle:
        while True:
            handle.write(bytes(4096))
    with open(filler, "r+b") as handle:
        handle.truncate(max(filler.stat().st_size - room, 0))
    return filler


def _faults(ended: dict[str, Any]) -> list[str]:
    found = []
    if ended["status"] not in (0, 2):
        found.append(f"exit status {ended['status']}: {ended['said'][-300:]}")
    if "Traceback" in ended["said"]:
        found.append("a traceback")
    if ended["status"] == 2 and not _SAID.search(ended["said"]):
        found.append(f"no file is named: {ended['said'][-300:]}")
    return found + [f"left behind: {process}" for process in ended["left"]]


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

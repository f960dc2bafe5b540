"""Kills and interrupts long jobs at random moments: ``python -m benchmarks.interrupts [JOB ...] kills=200 interrupts=50 folder=DIR``.

Every job runs once to its end. Then, round after round, the same command runs in an empty folder and is stopped again and again, by
SIGKILL to its whole process group or by SIGINT to the program, until it comes to its end; its folder must then hold what the reference
holds. Moments are drawn evenly over the processor time that is left of the job's work, so that a busy machine changes nothing: it begins
with the job's first file, and what was worked before counts as kept. A program is forked from this process, which has imported the
libraries: what is stopped is its own work.

DIR keeps the rounds that are done (``rounds.jsonl``); the same command goes on there, and prints the table at the end. Seeded by
``seed=1``. ``minutes=30`` ends it earlier.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.interrupts_jobs import JOBS, Job, begin, warm
from benchmarks.interrupts_trees import Tree, differences, tree

__all__ = ["Cost", "main", "reference", "run"]

_MOST = 6  # strikes in one round
_PATIENCE = 120.0  # seconds from SIGINT to the end of the program, before that is a fault
_LEFT = 10.0  # seconds that processes have to follow the one that was stopped
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Processor seconds of a job that is left alone: ``start`` before its first file, ``work`` from there on."""

    start: float
    work: float

    def moment(self, kept: float, draw: float) -> float:
        """When to strike a run that goes on after ``kept`` seconds of work; ``draw`` is in [0, 1)."""
        return self.start + draw * max(self.work - kept, 0.0)


def main(arguments: Sequence[str]) -> int:
    """Run the rounds that are missing and print the table; returns 1 when a round went wrong."""
    given = {"kills": "200", "interrupts": "50", "folder": "", "seed": "1", "minutes": "600"}
    given |= dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    names = [argument for argument in arguments if "=" not in argument] or list(JOBS)
    if not given["folder"] or not set(names) <= set(JOBS):
        print(f"{__doc__}\njobs: {', '.join(JOBS)}", file=sys.stderr)
        return 2
    home, until = Path(given["folder"]).resolve(), time.monotonic() + 60 * float(given["minutes"])
    wanted = {signal.SIGKILL: int(given["kills"]), signal.SIGINT: int(given["interrupts"])}
    home.mkdir(parents=True, exist_ok=True)
    warm(home)
    log = home / "rounds.jsonl"
    done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    references: dict[str, tuple[Cost, Tree]] = {}
    while names and time.monotonic() < until:
        counts = {name: sum(round["job"] == name for round in done) for name in names}
        left = {number: most - sum(round[number.name] for round in done) for number, most in wanted.items()}
        if max(left.values()) <= 0:
            break
        job = JOBS[min(counts, key=lambda name: counts[name])]
        if job.name not in references:
            try:
                references[job.name] = reference(job, home)
            except RuntimeError as error:
                print(f"left out: {error}", flush=True)
                names = [name for name in names if name != job.name]
                continue
        row = _round(
            job, home, counts[job.name], references[job.name], left, random.Random(f"{given['seed']} {job.name} {counts[job.name]}")
        )
        done.append(row)
        with open(log, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(row) + "\n")
        print(f"{time.strftime('%H:%M:%S')} {json.dumps(row)}", flush=True)
    print(_table(done))
    return int(any(round["faults"] for round in done))


def reference(job: Job, home: Path) -> tuple[Cost, Tree]:
    """What the job costs, and what it leaves; run where that was not done yet."""
    place = home / job.name / "reference"
    cost = place.with_name("reference.json")
    if not cost.exists():
        for _ in ("makes what is kept between commands", "finds it, as all rounds do"):
            _clear(place)
            ended = run(job, home, place, None, 0.0)
        if ended["status"]:
            raise RuntimeError(f"{job.name}: exit status {ended['status']}; see {place / 'output'}")
        cost.write_text(json.dumps(ended))
        told = f"{ended['seconds']:.1f} processor seconds, {ended['start']:.1f} before its work"
        print(f"{time.strftime('%H:%M:%S')} {job.name}: {told}", flush=True)
    seconds = json.loads(cost.read_text())
    return Cost(seconds["start"], seconds["seconds"] - seconds["start"]), tree(place)


def _round(
    job: Job, home: Path, number: int, reference: tuple[Cost, Tree], left: Mapping[signal.Signals, int], draw: random.Random
) -> dict:
    """One run of the job with strikes: what was done to it and what was found."""
    place = home / job.name / f"round-{number}"
    _clear(place)
    row: dict[str, Any] = {"job": job.name, "round": number, "SIGKILL": 0, "SIGINT": 0, "faults": [], "left": [], "slowest": 0.0}
    cost, kept = reference[0], 0.0
    while True:
        kinds = [kind for kind, most in left.items() if row[kind.name] < most]
        strike = draw.choices(kinds, [left[kind] for kind in kinds])[0] if kinds and row["SIGKILL"] + row["SIGINT"] < _MOST else None
        moment = cost.moment(kept, draw.random())
        kept += moment - cost.start
        ended = run(job, home, place, strike, moment)
        row["left"] += ended["left"]
        if not ended["struck"]:
            break
        assert strike is not None
        row[strike.name] += 1
        if not differences(reference[1], tree(place)):  # it had ended but for its exit: the same command would begin another run
            ended["status"] = 0
            break
        if strike == signal.SIGINT:
            row["slowest"] = max(row["slowest"], ended["answer"])
            if ended["status"] != 128 + signal.SIGINT:
                row["faults"].append(f"exit status {ended['status']} after SIGINT")
            if "Traceback" in ended["said"]:
                row["faults"].append("a traceback after SIGINT")
    if ended["status"]:
        row["faults"].append(f"exit status {ended['status']}: {ended['said'][-300:]}")
    row["faults"] += differences(reference[1], tree(place))
    if not row["faults"]:
        shutil.rmtree(place)
    return row


def run(job: Job, home: Path, place: Path, strike: signal.Signals | None, moment: float, output: Path | None = None) -> dict[str, Any]:
    """Run the job in ``place`` and strike it when it has used ``moment`` processor seconds, unless it ends before.

    What it says is added to ``output``, ``place/output`` if None.
    """
    place.mkdir(parents=True, exist_ok=True)
    output = output or place / "output"
    before = output.stat().st_size if output.exists() else 0
    child = begin(job, home, place, output)
    spent, struck, answer, start = 0.0, False, 0.0, 0.0
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        spent = max(spent, sum(_session(child).values()))
        if not start and _has_begun(place):
            start = spent
        if strike is not None and spent >= moment:
            struck, began = True, time.monotonic()
            os.killpg(child, strike) if strike == signal.SIGKILL else os.kill(child, strike)
            while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                time.sleep(0.01)
                if time.monotonic() - began > _PATIENCE:
                    os.killpg(child, signal.SIGKILL)
            answer = time.monotonic() - began
            break
        time.sleep(0.05)
    _, status, usage = os.wait4(child, 0)
    until = time.monotonic() + _LEFT
    while _session(child) and time.monotonic() < until:
        time.sleep(0.05)
    left = [f"process {pid}" for pid in _session(child)]
    for pid in _session(child):
        os.kill(pid, signal.SIGKILL)
    said = output.read_bytes()[before:].decode(errors="replace") if output.exists() else ""
    code = os.waitstatus_to_exitcode(status)
    spent = max(spent, usage.ru_utime + usage.ru_stime)
    return {"status": code, "struck": struck, "seconds": spent, "start": start, "left": left, "answer": answer, "said": said}


def _has_begun(place: Path) -> bool:
    """Whether the job has written a file of its own."""
    for folder, below, files in os.walk(place):  # a folder may go away meanwhile
        if folder == str(place):
            below[:] = [name for name in below if name != "tmp"]
            files = [name for name in files if name != "output"]
        if files:
            return True
    return False


def _session(leader: int) -> dict[int, float]:
    """The living processes of a session with their processor seconds, those of children that ended included."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found[int(entry)] = sum(int(field) for field in fields[11:15]) / _TICK
    return found


def _clear(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


def _table(done: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| job | runs | SIGKILL | SIGINT | results equal | left behind | slowest answer to SIGINT |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in dict.fromkeys(round["job"] for round in done):
        lines.append(_line(name, [round for round in done if round["job"] == name]))
    return "\n".join([*lines, _line("all", done)])


def _line(name: str, rounds: Sequence[Mapping[str, Any]]) -> str:
    good, left = sum(not round["faults"] for round in rounds), sum(len(round["left"]) for round in rounds)
    kills, interrupts = (sum(round[kind] for round in rounds) for kind in ("SIGKILL", "SIGINT"))
    slowest = f"{max((round['slowest'] for round in rounds), default=0.0):.1f} s" if interrupts else ""
    return f"| {name} | {len(rounds)} | {kills} | {interrupts} | {good} of {len(rounds)} | {left or 'nothing'} | {slowest} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

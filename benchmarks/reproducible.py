"""Do jobs give the same results whatever the machine? ``python -m benchmarks.reproducible [JOB ...] folder=DIR``.

Every job runs once with one worker, one thread and hash seed 0, and once with two workers, two threads (``OMP_NUM_THREADS=2``) and hash
seed 1 at once; where that gives something else, once with each of these changed alone. Then it runs with two workers of which one gets
SIGKILL while it works. All that a run leaves is compared, value by value, but for times, texts and the settings themselves.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.interrupts_jobs import JOBS, Job
from benchmarks.interrupts_trees import Tree, differences, tree

__all__ = ["main"]

_PLAIN = {"workers": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
_ALONE = {"2 workers": {"workers": "2"}, "2 threads": {"OMP_NUM_THREADS": "2"}, "hash seed 1": {"PYTHONHASHSEED": "1"}}
_KILLED = {"workers": "2", "kill": "1"}
_SETTINGS = ("config.yaml", "overrides.yaml", "hydra.yaml", "hparams.yaml", "status.json")
"""Files that hold the settings, which differ."""
_NAMES = (
    "labels",
    "training: distill",
    "training: td",
    "training: alphazero",
    "training: policy",
    "vr_arena",
    "cube_arena",
    "bgsage_pr",
    "benchmark build",
)


def main(arguments: Sequence[str]) -> int:
    """Run the jobs and print the table; returns 1 when results differ or a run fails."""
    given = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    names = [argument for argument in arguments if "=" not in argument] or list(_NAMES)
    if given.keys() != {"folder"} or not set(names) <= set(JOBS):
        print(f"{__doc__}\njobs: {', '.join(JOBS)}", file=sys.stderr)
        return 2
    home, rows = Path(given["folder"]).resolve(), []
    for name in names:
        whole, found = _run(JOBS[name], _PLAIN, home / name / "plain"), {}
        for changes in ({"all at once": {key: value for change in _ALONE.values() for key, value in change.items()}}, _ALONE):
            for change, settings in changes.items():
                found[change] = differences(whole, _run(JOBS[name], _PLAIN | settings, home / name / change))
            if not found["all at once"]:
                break
        found["a worker killed"] = differences(whole, _run(JOBS[name], _PLAIN | _KILLED, home / name / "killed"))
        rows.append((name, found))
        print(f"{time.strftime('%H:%M:%S')} {name}: {found}", flush=True)
    print("| job | 2 workers, 2 threads, hash seed 1 | a worker killed |\n|---|---|---|")
    for name, found in rows:
        alone = "; ".join(f"{change}: {len(found[change])} differences" for change in _ALONE if found.get(change))
        print(f"| {name} | {alone or 'equal'} | {len(found['a worker killed']) or 'equal'} |")
    return int(any(any(found.values()) for _, found in rows))


def _run(job: Job, settings: dict[str, str], place: Path) -> Tree:
    """What the job leaves in the empty folder ``place``."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    key = "workers" if job.program == "benchmark" else "executor.workers"
    arguments = [argument for argument in job.arguments if not argument.startswith(f"{key}=")]
    if job.program == "train":
        arguments += ["final.vr_arena=null"]  # vr_arena is a job of its own
    command = [sys.executable, "-m", f"raccoon.cli.{job.program}", *arguments, f"{key}={settings['workers']}"]
    environment = os.environ | {name: settings[name] for name in ("OMP_NUM_THREADS", "PYTHONHASHSEED")} | {"MPLBACKEND": "Agg"}
    with open(place.with_suffix(".output"), "wb") as output:
        running = subprocess.Popen(command, cwd=place, env=environment, stdout=output, stderr=output)
        killed = "kill" in settings and _kill_a_worker(running)
        status = running.wait()
    if status:
        return {"": {"": f"exit status {status}; worker killed: {killed}; see {place.with_suffix('.output')}"}}
    if "kill" in settings and not killed:
        print(f"{place}: had no worker to kill", file=sys.stderr)
    return {name: _results(values) for name, values in tree(place).items() if not name.endswith(_SETTINGS)}


def _results(values: dict[str, str]) -> dict[str, str]:
    """What a file holds without the settings that checkpoints carry, and the digests over these."""
    return {key: value for key, value in values.items() if not key.endswith((".digest", ".executor.workers"))}


def _kill_a_worker(program: subprocess.Popen[bytes]) -> bool:
    """SIGKILL to the first worker of the program that has worked for a while; False where it ended without one."""
    while program.poll() is None:
        for worker in _workers(program.pid):
            if _spent(worker) >= 0.5 * _TICK:
                os.kill(worker, signal.SIGKILL)
                return True
        time.sleep(0.02)
    return False


_TICK = os.sysconf("SC_CLK_TCK")


def _workers(parent: int) -> list[int]:
    """The processes that multiprocessing started below ``parent``, its helpers left out."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                below = int(Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[1])
                line = Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue
            if below == parent and b"tracker" not in line and b"forkserver" not in line:
                found.append(int(entry))
            elif below == parent and b"forkserver" in line:
                found += _workers(int(entry))
    return found


def _spent(process: int) -> float:
    """Processor ticks of a process."""
    try:
        fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return float(fields[11]) + float(fields[12])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

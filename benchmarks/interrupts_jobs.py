"""The long jobs that ``benchmarks.interrupts`` stops, small, and how one is started."""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["JOBS", "Job", "begin", "warm"]

_IDS = (
    "4HPwATDgc/ABMA 31",
    "4HPwATDgc/ABMA 64",
    "4HPKASjg2+ABMA 16",
    "GW+DAUi03ZABBg 52",
    "2t1TAAC2uysAAA",
    "PwAAgB8AAAAAAA",
    "/wMAAPgfAAAAAA 21",
)


@dataclass(frozen=True)
class Job:
    """A command: the module under ``raccoon.cli`` and its arguments."""

    name: str
    program: str
    arguments: Sequence[str]


def _job(name: str, program: str, arguments: str) -> Job:
    return Job(name, program, shlex.split(arguments))


_TRAIN = "debug=fast model=mlp_small callbacks=none final.bgsage_pr=null"
_ALL = (
    _job("labels", "generate", "data=demo data.source.games=16 data.source.shard_games=2 executor.workers=0"),
    _job("labels, 2 workers", "generate", "data=demo data.source.games=16 data.source.shard_games=8 executor.workers=2"),
    _job(
        "relabelling", "generate", "data=relabel data.source.folder=../../inputs/set engine@data.source.teacher=gnubg0 executor.workers=0"
    ),
    _job("training: distill", "train", f"{_TRAIN} trainer.max_epochs=3"),
    _job("training: td", "train", f"{_TRAIN} trainer=td data=selfplay trainer.max_epochs=2"),
    _job("training: alphazero", "train", f"{_TRAIN} trainer=alphazero data=selfplay_mcts trainer.max_epochs=2 final.vr_arena=null"),
    _job("training: policy", "train", f"{_TRAIN} trainer=policy data=policy trainer.max_epochs=2"),
    _job("vr_arena", "evaluate", "debug=fast evaluator=vr_arena evaluator.games=16 evaluator.shard_games=2 player=gnubg0"),
    _job("cube_arena", "evaluate", "debug=fast evaluator=cube_arena evaluator.games=16 evaluator.shard_games=2 player=gnubg0"),
    _job("bgsage_pr", "evaluate", "debug=fast evaluator=bgsage_pr evaluator.games=12 evaluator.shard_games=1 player=default"),
    _job(
        "pr_table", "evaluate", "debug=fast evaluator=pr_table evaluator.shard_games=1 ~evaluator.players.gnubg2 ~evaluator.players.sage2"
    ),
    _job("search.py, a file of ids", "search", "file=../../inputs/ids.txt out=found.jsonl search=pruned search.ply=2"),
    _job("benchmark build", "benchmark", "build small.npz.xz games=3 level=1P refine=null workers=0"),
    _job("bear-off table", "bearoff", "checkers=3"),
    _job("sweep of trainings", "train", f"-m {_TRAIN} seed=1,2,3 final.vr_arena=null"),
    _job("sweep of measurements", "evaluate", "-m debug=fast evaluator=vr_arena player=gnubg0 seed=1,2,3"),
)
JOBS = {job.name: job for job in _ALL}


def warm(home: Path) -> None:
    """Import what every program imports and make the files that jobs read."""
    os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE")
    for module in ("torch", "lightning", "hydra", "matplotlib.pyplot", "scipy.stats", "raccoon.train.run", "raccoon.play.match"):
        importlib.import_module(module)
    for job in _ALL:
        importlib.import_module(f"raccoon.cli.{job.program}")
    _load_kernels()
    inputs = home / "inputs"
    inputs.mkdir(exist_ok=True)
    (inputs / "ids.txt").write_text("".join(f"{line}\n" for line in _IDS))
    make = _job("inputs", "generate", "data=demo data.source.games=6 data.source.shard_games=1 executor.workers=0 folder=set")
    if not (inputs / "made").exists():
        if os.waitstatus_to_exitcode(os.waitpid(begin(make, home, inputs, inputs / "output"), 0)[1]):
            raise SystemExit(f"inputs: see {inputs / 'output'}")
        (inputs / "made").touch()


def _load_kernels() -> None:
    """Every kernel of the rules from numba's cache, once for all programs."""
    import numpy as np

    from raccoon.engine.random import RandomEngine
    from raccoon.play.match import play_games
    from raccoon.play.player import EnginePlayer

    play_games((EnginePlayer(RandomEngine()), EnginePlayer(RandomEngine())), np.arange(2), 1)


def begin(job: Job, home: Path, place: Path, output: Path) -> int:
    """Start the job in the folder ``place``, leading a session of its own; returns its process id. What it says is added to ``output``."""
    child = os.fork()
    if child:
        os.waitid(os.P_PID, child, os.WSTOPPED)  # it leads its session now
        os.kill(child, signal.SIGCONT)
        return child
    status = 1
    try:
        os.setsid()
        os.chdir(place)
        written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(written, 1)
        os.dup2(written, 2)
        (place / "tmp").mkdir(exist_ok=True)
        shared = place if job.program == "bearoff" else home
        os.environ.update(TMPDIR=str(place / "tmp"), RACCOON_CACHE=str(shared / "cache"), MPLBACKEND="Agg")
        os.kill(os.getpid(), signal.SIGSTOP)
        sys.argv = [f"{job.program}.py", *job.arguments]
        importlib.import_module(f"raccoon.cli.{job.program}").main()
        status = 0
    except KeyboardInterrupt:  # before the program listens
        status = 128 + signal.SIGINT
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        _leave(status)
    raise AssertionError("unreachable")


def _leave(status: int) -> None:
    """End as an interpreter does, but for what belongs to the parent."""
    import multiprocessing.util

    multiprocessing.util._exit_function()  # type: ignore[attr-defined]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

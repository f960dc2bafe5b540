"""How long wrong commands take to be refused: ``python -m benchmarks.refusals [REPEATS]`` prints a table in Markdown.

Every command runs in an empty folder, and the least processor time of REPEATS (2) is shown: what else the machine does is no part of
it. Ends with 1 if a command takes more than 3 s, ends with another status than 2 or leaves something behind; a sweep (``-m``) keeps its
list of what failed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence

__all__ = ["main"]

_MOST = 3.0
_COMMANDS = (
    "train trainer.lr=fast",
    "train trainer=td trainer.max_epochs=ten",
    "train trainer=alphazero data.games=1.5",
    "train trainer.lr=-1",
    "train +trainer.foo=1",
    "train trainer.foo=1",
    "train modle=mlp",
    "train model.backbone.blocks=two",
    "train data.batch_size=big",
    "train data=folders data.folders=[missing]",
    "train callbacks.pr.every=often",
    "train init=missing.pt",
    "train runtime=gpu",
    "train runtime.num_nodes=two",
    "train +runtime.foo=1",
    "train final.vr_arena.games=ten",
    "train -m trainer.lr=fast,slow",
    "evaluate evaluator.games=ten",
    "evaluate evaluator.games=-1",
    "evaluate evaluator.gmaes=10",
    "evaluate player=checkpoint",
    "evaluate player=checkpoint player.checkpoint=missing.pt",
    "evaluate player.engine.batch=x",
    "evaluate evaluator.benchmark=missing.json evaluator=bgsage_pr",
    "evaluate -m player=nobody,default",
    "search position=abc",
    "search position=4HPwATDgc/ABMA dice=two",
    "search position=4HPwATDgc/ABMA search=expectimax search.ply=two",
    "search file=missing.txt",
    "search position=4HPwATDgc/ABMA player=checkpoint player.checkpoint=missing.pt",
    "generate data.source.games=ten",
    "generate data=wildbg data.source.files=[missing.csv]",
    "collect missing",
    "export missing.pt out.pt",
    "export default out.txt",
    "dashboard missing",
    "benchmark build out.npz.xz games=ten",
    "bearoff checkers=ten",
)


def main(arguments: Sequence[str]) -> int:
    """Print the table; returns the exit status."""
    repeats, wrong = int(arguments[0]) if arguments else 2, 0
    print("| command | processor time | exit status |\n|---|---|---|")
    for command in _COMMANDS:
        measured = [_measured(command) for _ in range(repeats)]
        seconds, status, left = min(seconds for seconds, *_ in measured), measured[0][1], [name for *_, names in measured for name in names]
        left = [] if " -m " in command else left
        told = f"; leaves {', '.join(left)}" if left else ""
        print(f"| `{command}` | {seconds:.1f} s | {status}{told} |", flush=True)
        wrong += seconds > _MOST or status != 2 or bool(left)
    return int(wrong > 0)


def _measured(command: str) -> tuple[float, int, list[str]]:
    """Processor seconds, exit status, and what the folder holds afterwards."""
    program, *words = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(
            [sys.executable, "-m", f"raccoon.cli.{program}", *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime, child.returncode, sorted(os.listdir(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

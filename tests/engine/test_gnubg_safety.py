"""No call may end the process: sweeps in a child process over the boards that are known to be dangerous."""

from __future__ import annotations

import subprocess
import sys

import pytest

SWEEP = """
import sys
import numpy as np
from raccoon.engine.gnubg import GnubgEngine, best_move_equity, candidate_equities, roll_values
from raccoon.env.movegen import ROLLS

count, deep = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(11)
boards = np.zeros((count, 2, 25), np.int8)
for side in boards.reshape(-1, 25):
    np.add.at(side, rng.integers(0, rng.choice([2, 6, 6, 11]), rng.integers(1, 16)), 1)
values = roll_values(boards)
assert np.isfinite(values).all() and (np.abs(values) <= 3).all()
for board in boards[: count // 5]:
    for d1, d2 in ROLLS.tolist():
        assert abs(best_move_equity(board, d1, d2)) <= 3
for board in boards[:deep]:
    for d1, d2 in ((1, 2), (6, 6), (6, 5)):
        assert abs(best_move_equity(board, d1, d2, 1)) <= 3
        assert len(candidate_equities(board, d1, d2, 1))
for ply, package in ((1, "nn"), (1, "pruned"), (2, "pruned")):
    points = GnubgEngine(ply, package).points(boards[: 4 * deep])
    assert (np.abs(points) <= 3 + 1e-6).all()
print("alive")
"""


@pytest.mark.parametrize(("count", "deep"), [(100, 10), pytest.param(3000, 100, marks=pytest.mark.slow)])
def test_bear_off_boards_never_end_the_process(count: int, deep: int) -> None:
    done = subprocess.run([sys.executable, "-c", SWEEP, str(count), str(deep)], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr

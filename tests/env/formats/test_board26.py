from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from raccoon.env.board import START
from raccoon.env.formats.board26 import from_board26, to_board26
from raccoon.testing import sample_boards

GOLDEN = Path(__file__).parents[2] / "golden"


def test_start() -> None:
    start = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
    assert to_board26(START[None]).tolist() == [start]
    assert np.array_equal(from_board26(np.array(start)), START[None])


def test_boards_of_other_programs_are_read_point_by_point() -> None:
    sample = json.loads((GOLDEN / "benchmark_sample.json").read_text())["decisions"]
    rows = [decision["board"] for decision in sample] + [case["board"] for case in json.loads((GOLDEN / "sage_3p.json").read_text())]
    boards = from_board26(np.array(rows))
    for row, board in zip(rows, boards.astype(int), strict=True):
        assert [board[1, point - 1] - board[0, 24 - point] for point in range(1, 25)] == row[1:25]
        assert (board[0, 24], board[1, 24]) == (row[0], row[25])
    assert to_board26(boards).tolist() == rows


def test_there_and_back() -> None:
    boards = sample_boards(500)
    assert boards[:, :, 24].any()
    assert np.array_equal(from_board26(to_board26(boards)), boards)

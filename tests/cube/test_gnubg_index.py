"""GNU Backgammon's cube-life index: its own equities at 0-ply, and names of players."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.cube import GnubgJanowski, Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.formats.xgid import from_xgid
from raccoon.search.analysis.questions import Question
from raccoon.search.analysis.records import Unit

TOLD = {  # cubeful equity of `eval`, gnubg 1.1.0a16, where doubling is not best or not allowed
    "-b----E-C---eE---c-e----B-:1:1:1:00:0:0:0:0:10": 0.26573,
    "-BA--BD-Da-aaB----bcc-bb--:1:-1:1:00:0:0:0:0:10": 0.38774,
    "-FEB-c-------B---------eg-:1:-1:1:00:0:0:0:7:10": 0.76531,
    "-b----E-C---eE---c-e----B-:0:0:1:00:4:2:0:7:10": -0.00493,
    "-----CECBB------bbcbcc----:1:-1:1:00:0:0:0:0:10": -0.28276,
    "--A--ACA-----------abaaa--:1:-1:1:00:0:0:0:0:10": -0.39293,
    "---BAD-AB--------aaacac---:1:-1:1:00:0:0:0:0:10": -0.17716,
    "-FDBB-----A-------a-addda-:1:-1:1:00:0:0:0:7:10": 0.39227,
    "-AEAEAB------------cebbba-:1:-1:1:00:0:0:0:0:10": 0.49154,
    "-GH-------------------o---:1:-1:1:00:0:0:0:7:10": 0.80741,
}
INDICES = [0.76, 0.76, 0.76, 0.76, 0.8, 0.68, 0.7325, 0.695, 0.6, 0.6]


def test_equities_at_0_ply_are_those_of_gnubg() -> None:
    positions = [from_xgid(f"XGID={text}") for text in TOLD]
    boards = np.stack([position.board for position in positions])
    model, engine = GnubgJanowski(bearoff=False), GnubgEngine(0)
    assert model.index(boards) == pytest.approx(INDICES)
    for position, told in zip(positions, TOLD.values(), strict=True):
        cubes, board = Question(position, True).cubes, position.board[None]
        equity = Unit(cubes).equity(float(model.no_double(engine.probs6(board), board, cubes)[0]))
        assert equity == pytest.approx(told, abs=1e-4)


def test_its_name_tells_it_from_the_same_constants() -> None:
    assert GnubgJanowski().suffix == "+gnubgindex"
    assert GnubgJanowski(bearoff=False, moves="cubeless").suffix == "+gnubgindex+nobearoff+cubeless"
    assert Janowski(0.76, 0.6).suffix == "+x0.76/0.6"
    assert Janowski().suffix == ""

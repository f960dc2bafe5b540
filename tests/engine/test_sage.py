"""Sage's evaluations: orientation, levels and agreement with its own published numbers and with GNUBG."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.sage import SageEngine
from raccoon.env.board import START
from raccoon.testing import check_engine, sample_boards

# played candidates with Sage's 3-ply probabilities of the side that has just moved, from its analyzer
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "sage_3p.json").read_text())


def after_the_move(sage: list[int]) -> np.ndarray:
    """Our board of a Sage board whose mover has just played: the mover in slot 0."""
    board = np.zeros((2, 25), np.int8)
    for point in range(1, 25):
        if sage[point] > 0:
            board[0, point - 1] = sage[point]
        else:
            board[1, 24 - point] = -sage[point]
    board[0, 24], board[1, 24] = sage[25], sage[0]
    return board


def to_five_of_the_mover(probs6: np.ndarray) -> np.ndarray:
    """Cumulative five of the side that is not on roll."""
    win_g, win_bg, lose_g, lose_bg = probs6[:, 4] + probs6[:, 5], probs6[:, 5], probs6[:, 1] + probs6[:, 2], probs6[:, 2]
    return np.stack([probs6[:, 3:].sum(axis=1), win_g, win_bg, lose_g, lose_bg], axis=1)


@pytest.mark.parametrize(("level", "tolerance"), [("1P", 0.06), ("2P", 0.03), pytest.param("3P", 0.004, marks=pytest.mark.slow)])
def test_levels_approach_sages_own_three_ply(level: str, tolerance: float) -> None:
    boards = np.stack([after_the_move(case["board"]) for case in GOLDEN])
    expected = np.array([case["probs"] for case in GOLDEN])
    assert np.abs(to_five_of_the_mover(SageEngine(level).probs6(boards)) - expected).max() < tolerance


def test_agrees_with_gnubg_on_ordinary_positions() -> None:
    boards = np.stack([START, START[::-1]] + [after_the_move(case["board"]) for case in GOLDEN[:5]])
    difference = SageEngine("1P").probs6(boards) - GnubgEngine(0).probs6(boards)
    assert np.abs(difference).max() < 0.05
    assert np.abs(difference).mean() < 0.015


def test_conforms() -> None:
    check_engine(SageEngine("1P"))
    check_engine(SageEngine("2P"), sample_boards(16, seed=4))


def test_pickling_and_names() -> None:
    engine = pickle.loads(pickle.dumps(SageEngine("1P", name="referee")))
    assert (engine.level, engine.name) == ("1P", "referee")
    assert SageEngine("1P").name == "sage1"


def test_unknown_level_and_missing_package_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RaccoonError, match=r"engine\.level='5P': Sage has 1P, 2P, 3P, 4P"):
        SageEngine("5P")
    monkeypatch.setitem(sys.modules, "bgbot_cpp", None)
    with pytest.raises(RaccoonError, match="pip install bgsage"):
        SageEngine("1P")

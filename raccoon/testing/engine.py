"""The check of engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.contracts import OUTCOME_POINTS, Boards, Engine
from raccoon.engine.outcomes import FLIPPED
from raccoon.env.board import START, terminal_points
from raccoon.testing.subjects import expect, sample_boards, subject

__all__ = ["check_engine"]

_TOLERANCE = 1e-4


def check_engine(engine: Any, boards: Boards | None = None) -> None:
    """Check an ``Engine`` (object or config node); AssertionError says what is wrong.

    ``boards``: positions to ask about, by default samples of every stage of the game (of those it ``knows``, when it
    has that method). Right types and ranges, exact finished games, outcome probabilities that agree with the value or a
    clear refusal, the same answers in any batch, inputs left alone, illegal boards refused, evaluations counted.
    """
    engine = subject(engine)
    expect(isinstance(engine, Engine), f"{type(engine).__name__} lacks a method or attribute of raccoon.contracts.Engine")
    expect(isinstance(engine.name, str) and engine.name, "name must be a non-empty string")
    expect(isinstance(engine.has_probs, bool), "has_probs must be a bool")
    if boards is None:
        boards = sample_boards(60)
        if hasattr(engine, "knows"):
            few = np.zeros((3, 2, 25), np.int8)
            few[:, 0, :3] = [[1, 0, 0], [2, 1, 0], [0, 1, 1]]
            few[:, 1, :3] = [[0, 0, 1], [1, 1, 0], [2, 0, 0]]
            boards = np.concatenate([boards, few])
            boards = boards[engine.knows(boards)]
    _check_values(engine, boards)
    _check_finished(engine)
    _check_probs(engine, boards)
    _check_refusals(engine)


def finished_boards() -> Boards:
    """``int8[6, 2, 25]``: lost by 1, 2, 3 and won by 1, 2, 3 points to the side in slot 1."""
    boards = np.zeros((6, 2, 25), np.int8)
    for size in range(3):
        boards[size, 1, [2, 10, 20][size]] = 14 if size == 0 else 15
        boards[3 + size, 0] = boards[size, 1]
    return boards


def _check_values(engine: Engine, boards: Boards) -> None:
    count = len(boards)
    expect(count > 0, "the engine knows none of the sample boards; give check_engine boards that it knows")
    given, before = boards.copy(), engine.evaluations
    values = engine.value(given)
    good = isinstance(values, np.ndarray) and values.shape == (count,) and values.dtype == np.float32
    expect(good, f"value must return float32[{count}]")
    expect(np.array_equal(given, boards), "value changed its input")
    expect(np.isfinite(values).all() and (np.abs(values) <= 1 + _TOLERANCE).all(), "value must lie in [-1, 1] (equity / 3)")
    expect(engine.evaluations > before, "evaluations must grow when boards are evaluated")
    expect(np.array_equal(engine.value(given), values), "value must give the same answer twice")
    mirrored = engine.value(boards[::-1])[::-1]
    expect(np.abs(mirrored - values).max() <= _TOLERANCE, "value depends on the order of the rows")
    for row in range(0, count, max(1, count // 8)):
        alone = engine.value(boards[row : row + 1])[0]
        expect(abs(alone - values[row]) <= _TOLERANCE, f"value depends on the batch: row {row} alone gives {alone}, not {values[row]}")
    empty = engine.value(boards[:0])
    expect(empty.shape == (0,) and empty.dtype == np.float32, "value of no boards must be float32[0]")


def _check_finished(engine: Engine) -> None:
    boards = finished_boards()
    exact = terminal_points(boards) / 3.0
    expect(np.allclose(engine.value(boards), exact, atol=1e-7), f"value of finished boards must be {exact}, not {engine.value(boards)}")


def _check_probs(engine: Engine, boards: Boards) -> None:
    if not engine.has_probs:
        expect(_refuses(engine.probs6, boards), "probs6 must raise RaccoonError when has_probs is False")
        return
    probs = engine.probs6(boards)
    good = isinstance(probs, np.ndarray) and probs.shape == (len(boards), 6) and probs.dtype == np.float32
    expect(good, f"probs6 must return float32[{len(boards)}, 6]")
    expect((probs >= 0).all(), "probs6 must not be negative")
    expect(np.abs(probs.sum(axis=1) - 1).max() <= _TOLERANCE, "probs6 must sum to 1")
    off = np.abs(probs @ OUTCOME_POINTS / 3 - engine.value(boards)).max()
    expect(off <= 10 * _TOLERANCE, f"value and probs6 disagree by {off}: value is (win + 2 win_g + 3 win_bg - losses) / 3")
    one_hot = engine.probs6(finished_boards())[FLIPPED]
    expect(np.array_equal(one_hot, np.eye(6, dtype=np.float32)), "probs6 of finished boards must be exact")


def _check_refusals(engine: Engine) -> None:
    sixteen, negative, shared = START.copy(), START.copy(), START.copy()
    sixteen[1, 0] += 1
    negative[1, [0, 5]] = -1, 6
    shared[1, [5, 0]] = 4, 1
    for fault, board in (("16 checkers", sixteen), ("a negative count", negative), ("both sides on one point", shared)):
        expect(_refuses(engine.value, board[None]), f"value must raise ValueError for a board with {fault}")
    expect(_refuses(engine.value, START), "value must raise ValueError for one board without the batch axis")


def _refuses(method: Any, boards: Boards) -> bool:
    try:
        method(boards)
    except ValueError:
        return True
    return False

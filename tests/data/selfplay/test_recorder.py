"""What is recorded of a turn: the position on roll and other results than the one that was chosen."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.contracts import Cubes, Step, Turns
from raccoon.data.label_sets.rows import SELFPLAY, SIBLING
from raccoon.data.selfplay.recorder import PositionRecorder
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START
from raccoon.env.movegen import afterstates
from raccoon.env.position_ids import position_keys

ENGINE = GnubgEngine(0)


@pytest.fixture(scope="module")
def opening() -> tuple[Step, Turns]:
    """Two hundred games at their first roll, a 3-1 (16 plays)."""
    n = 200
    boards, dice = np.repeat(START[None], n, axis=0), np.tile(np.array([[3, 1]], np.int8), (n, 1))
    children, offsets = afterstates(boards, dice)
    cubes = Cubes.centred(n)
    zeros = np.zeros(n, np.int64)
    step = Step(np.arange(n), zeros, zeros.astype(np.int8), boards, dice, cubes, zeros)
    return step, Turns(boards, dice, cubes, children, offsets)


def siblings(recorder: PositionRecorder, opening: tuple[Step, Turns], chosen: int) -> np.ndarray:
    step, turns = opening
    recorder.rolled(step)
    recorder.played(step, turns, np.full(len(step.games), chosen))
    found = recorder.collect()
    assert (found.provenance == SELFPLAY).sum() == 1  # the same position in every game
    return found.boards[found.provenance == SIBLING]


@pytest.mark.parametrize("chosen", [0, 7, 15])
def test_random_siblings_are_every_play_but_the_one_that_was_made(opening: tuple[Step, Turns], chosen: int) -> None:
    turns = opening[1]
    wanted = np.delete(turns.children[:16], chosen, axis=0)
    found = siblings(PositionRecorder(3.0, seed=1), opening, chosen)
    assert sorted(map(bytes, position_keys(found))) == sorted(map(bytes, position_keys(wanted)))


@pytest.mark.parametrize("place", [0, 1, 5])
def test_ranked_siblings_are_the_best_other_plays(opening: tuple[Step, Turns], place: int) -> None:
    turns = opening[1]
    order = np.argsort(ENGINE.value(turns.children[:16]))  # the opponent's value: the lowest is the mover's best
    wanted = [play for play in order if play != order[place]][:3]
    found = siblings(PositionRecorder(3.0, seed=1, rank=ENGINE), opening, int(order[place]))
    assert sorted(map(bytes, position_keys(found))) == sorted(map(bytes, position_keys(turns.children[wanted])))

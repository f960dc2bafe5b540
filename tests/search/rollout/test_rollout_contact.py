"""Rollouts of contact positions: Sage's own rollouts agree, and taking the luck out pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.sage import SageEngine
from raccoon.env.board import is_race
from raccoon.env.formats.board26 import to_board26
from raccoon.play.match import play_games
from raccoon.play.player import EnginePlayer
from raccoon.search.rollout.search import Rollout

pytestmark = pytest.mark.slow


class Seen:
    """Keeps every seventh position of the games it watches."""

    def __init__(self) -> None:
        self.boards: list[np.ndarray] = []

    def rolled(self, step) -> None:
        self.boards.append(step.boards[step.roll % 7 == 3])

    def played(self, step, turns, chosen) -> None: ...

    def finished(self, games, points) -> None: ...


@pytest.fixture(scope="module")
def contact() -> np.ndarray:
    """20 contact positions from games of GNUBG's 0-ply with itself."""
    seen, player = Seen(), EnginePlayer(GnubgEngine(0))
    play_games((player, player), np.arange(20), 5, observers=[seen])
    boards = np.unique(np.concatenate(seen.boards), axis=0)
    boards = boards[~is_race(boards)]
    return boards[np.random.default_rng(1).permutation(len(boards))[:20]]


def test_sage_rolls_out_the_same(contact) -> None:
    import bgsage

    settings: dict[str, Any] = {"n_trials": 144, "truncation_depth": 7, "decision_ply": 1, "truncation_ply": 1, "late_ply": 1}
    sage = bgsage.create_analyzer("rollout", cubeful=False, parallel_threads=1, **settings)
    # Sage is asked after a move: its numbers are those of the side that is not on roll
    theirs = [sage.post_move_analytics(board, jacoby=False) for board in to_board26(contact[:, ::-1]).tolist()]
    ours = Rollout(36, 7).roll(contact, SageEngine("1P"))
    spread = np.hypot(ours.se, np.array([each.cubeless_se for each in theirs], np.float64))
    assert spread.max() < 0.1
    z = (ours.equity + [each.cubeless_equity for each in theirs]) / spread
    assert np.abs(z).max() < 3.5
    assert (z**2).sum() < 45  # chi-squared, 20 degrees: 0.1% lie above


def test_without_luck_the_spread_is_a_quarter_at_most(contact) -> None:
    found, plain = (Rollout(36, 7, luck=luck).roll(contact, GnubgEngine(0)) for luck in (True, False))
    assert found.se.mean() < plain.se.mean() / 4
    assert (np.abs(found.equity - plain.equity) < 4 * np.hypot(found.se, plain.se)).all()

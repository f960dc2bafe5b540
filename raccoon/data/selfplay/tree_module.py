"""Self-play by Monte Carlo tree search: the games of ``SelfPlay`` with a decision in every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import number, whole
from raccoon.contracts import Engine, Player, RaccoonError
from raccoon.data.contract import Kind, Labeller
from raccoon.data.label_sets.policy_rows import DECISION_ROW
from raccoon.data.selfplay.episodes import EpisodeRecorder
from raccoon.data.selfplay.module import SelfPlay
from raccoon.data.selfplay.tree_player import TreePlayer
from raccoon.search.mcts.search import MCTS

__all__ = ["TreeSelfPlay"]


class TreeSelfPlay(SelfPlay):
    """As ``SelfPlay``, but ``search`` chooses the plays with the trainer's ``best_net``, and batches are ``JointBatch``es: window and
    validation count decisions, a double being up to two.

    In the first ``temperature_turns`` rolls of a game, of both sides together, plays are drawn by visits at ``search.temperature``,
    at ``temperature_late`` from then on (0: the most visited). Policy targets are the shares of the visits, whatever the
    temperature. Rolls inside the trees and noise follow from ``seed``, game and roll. Raises RaccoonError naming the key of a bad setting.
    """

    gives: Kind = "searched_games"
    row = DECISION_ROW

    def __init__(self, search: MCTS, temperature_turns: int = 4, temperature_late: float = 0.0, **games: Any) -> None:
        if not isinstance(search, MCTS):
            raise RaccoonError(f"data.search={type(search).__name__}: counts no visits; choose search@data.search=mcts")
        self.search = search
        self.temperature_turns = whole("data.temperature_turns", temperature_turns, 0)
        self.temperature_late = number("data.temperature_late", temperature_late, "a number, 0 or more")
        super().__init__(**games)

    def make_player_and_recorder(self, engine: Engine) -> tuple[Player, EpisodeRecorder]:
        """One tree player for both sides, which records what it finds."""
        player = TreePlayer(engine, self.search, self.seed, self.temperature_turns, self.temperature_late)
        return player, player

    def rows(self, recorder: EpisodeRecorder, learner: Labeller, engine: Engine) -> NDArray[np.void]:
        """``DECISION_ROW[n]`` of the recorded games by game, turn and half."""
        assert isinstance(recorder, TreePlayer)
        episodes = recorder.episodes()
        return recorder.decisions(episodes, learner.label(episodes, engine))

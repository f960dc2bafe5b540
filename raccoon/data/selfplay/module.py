"""A DataModule that plays: at the start of every epoch the network under training plays itself and fills a replay window."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from numpy.typing import NDArray

from raccoon.checks import number, whole
from raccoon.config.instantiate import build
from raccoon.contracts import Boards, Engine, Player, RaccoonError
from raccoon.data.contract import TRAINER_FOR, Kind, Labeller
from raccoon.data.label_sets.rows import ROW, SELFPLAY, pack
from raccoon.data.sampler import held_out
from raccoon.data.selfplay.actors import Actors
from raccoon.data.selfplay.episodes import EpisodeRecorder, Episodes
from raccoon.data.selfplay.replay import FreshLoader, ReplayLoader, ReplayWindow
from raccoon.data.starts import KINDS, check_kinds, special_starts
from raccoon.engine.net import NetEngine
from raccoon.engine.outcomes import five_from_six
from raccoon.env import ragged
from raccoon.env.board import START
from raccoon.executor import PersistentExecutor, ProcessExecutor
from raccoon.play.match import play_games
from raccoon.play.player import EnginePlayer
from raccoon.rng import hash64, uniform

__all__ = ["SelfPlay"]


class SelfPlay(pl.LightningDataModule):
    """Batches ``(boards int8[B, 2, 25], probs6 float32[B, 6])`` of a window of the newest self-played positions and their targets.

    Each epoch: ``games`` games of the trainer's ``best_net`` against itself by static play, ``concurrent`` at a time, stopped
    after ``turn_cap`` rolls; then ``batches`` batches of ``batch_size`` from the newest ``window`` positions. A share
    ``special`` of the games starts from positions of the ``kinds`` (see ``raccoon.data.starts``). A share ``holdout`` of the
    games is never trained on: the newest ``val_rows`` of their positions are validated. ``seed`` decides dice, starts and
    order; nothing else does, so that a continued run plays the same games. Several processes share the games of an epoch and all
    hold the whole window.

    ``ahead``: the games of an epoch are played and labelled while the learner trains on those before, with the weights that it had
    when it began to (see ``raccoon.data.selfplay.actors``); by ``actors`` processes of ``executor`` (null: as many as it has, 0: this
    process, when the games are needed), ``actor_games`` games at a time. How many there are changes no result.
    """

    gives: Kind = "games"
    row = ROW

    def __init__(
        self,
        games: int = 256,
        batches: int = 100,
        batch_size: int = 512,
        window: int = 200_000,
        special: float = 0.1,
        kinds: Sequence[str] = tuple(KINDS),
        holdout: float = 0.05,
        val_rows: int = 10_000,
        val_batch_size: int = 4096,
        concurrent: int = 256,
        turn_cap: int = 500,
        seed: int = 1,
        ahead: bool = False,
        actors: int | None = None,
        actor_games: int = 64,
        executor: Mapping[str, Any] | PersistentExecutor | None = None,
    ) -> None:
        super().__init__()
        sizes = {"games": games, "batches": batches, "batch_size": batch_size, "window": window, "val_rows": val_rows}
        sizes |= {"val_batch_size": val_batch_size, "concurrent": concurrent, "turn_cap": turn_cap, "actor_games": actor_games}
        for key, value in sizes.items():
            whole(f"data.{key}", value, 1)
        whole("data.seed", seed, 0)
        number("data.special", special, "a share of the games, 0 to 1", most=1.0)
        number("data.holdout", holdout, "a share of the games, 0 to 0.5", most=0.5)
        check_kinds(kinds)
        first = min(games, 1_000_000)  # of more games some are held out and some are not
        if not 0 < held_out(np.arange(first), holdout).sum() < first:
            raise RaccoonError(f"data.games={games}, data.holdout={holdout}: none of the first games is held out, or all; raise either")
        self.games, self.batches, self.batch_size = games, batches, batch_size
        self.special, self.kinds, self.holdout = special, list(kinds), holdout
        self.val_batch_size, self.concurrent, self.turn_cap, self.seed = val_batch_size, concurrent, turn_cap, seed
        self.window = ReplayWindow(window, val_rows, holdout, self.row)
        self.played = 0
        self.figures: dict[str, float] = {}
        self.actors = self._actors(executor, actors, actor_games) if ahead else None
        if actors is not None and not ahead:
            raise RaccoonError(f"data.actors={actors}: actors play while the learner trains; set data.ahead=true, or data.actors=null")

    def train_dataloader(self) -> ReplayLoader:
        """Plays, then draws; see ``ReplayLoader``."""
        return ReplayLoader(self.window, self.play, self.batches, self.batch_size, self.seed, *self._rank())

    def val_dataloader(self) -> FreshLoader:
        """The newest positions of held-out games."""
        return FreshLoader(self.window, self.val_batch_size, *self._rank())

    def state_dict(self) -> dict[str, Any]:
        """Window, games played and figures: everything that a continued run needs."""
        ahead = {} if self.actors is None else {"ahead": self.actors.state_dict()}
        return {"played": self.played, "figures": dict(self.figures), **ahead, **self.window.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave."""
        self.played, self.figures = int(state_dict["played"]), dict(state_dict["figures"])
        self.window.load_state_dict(state_dict)
        if self.actors is not None:
            self.actors.load_state_dict(state_dict["ahead"])

    def teardown(self, stage: str) -> None:
        """End the actors."""
        if self.actors is not None:
            self.actors.close()

    def on_exception(self, exception: BaseException) -> None:
        """End the actors."""
        self.teardown("fit")

    def play(self, epoch: int) -> None:
        """Play and label the games of ``epoch``, unless the window holds them already. Raises RaccoonError without a trainer
        that labels games."""
        if self.played <= epoch:
            learner, (rank, world) = self._learner(), self._rank()
            numbers = self.numbers(epoch)[rank::world]
            made = self.play_and_label(learner, numbers) if self.actors is None else self.actors.take(epoch, numbers, learner)
            self.figures = _figures(made)
            self.window.add(_gathered(made["rows"], world))
            self.played = epoch + 1
            if self.actors is not None:
                self.actors.hand_over(epoch + 1, learner)
        if self.actors is not None and self.trainer is not None and epoch + 1 != self.trainer.max_epochs:
            rank, world = self._rank()
            self.actors.begin(epoch + 1, self.numbers(epoch + 1)[rank::world], self._learner())

    def play_and_label(self, learner: Labeller, numbers: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Play and label the games ``numbers`` (of one epoch): ``rows [n]`` by game and turn; of the games ``points``, ``rolls``
        and ``capped``; ``seconds float64[2]`` of play and of labels. The same for every split of an epoch's games."""
        engine = NetEngine(learner.best_net, device=str(learner.best_net.device))
        player, recorder = self.make_player_and_recorder(engine)
        epoch, within = int(numbers[0]) // self.games, numbers % self.games
        began = time.perf_counter()
        knobs: dict[str, Any] = {"concurrent": self.concurrent, "turn_cap": self.turn_cap, "starts": self.starts(epoch)[within]}
        result = play_games((player, player), numbers, self.seed, observers=[recorder], **knobs)
        middle = time.perf_counter()
        rows = self.rows(recorder, learner, engine)
        seconds = np.array([middle - began, time.perf_counter() - middle])
        return {"rows": rows, "points": result.points, "rolls": result.rolls, "capped": result.capped, "seconds": seconds}

    def make_player_and_recorder(self, engine: Engine) -> tuple[Player, EpisodeRecorder]:
        """The player of both sides of the games, and the observer that records them."""
        return EnginePlayer(engine), EpisodeRecorder()

    def rows(self, recorder: EpisodeRecorder, learner: Labeller, engine: Engine) -> NDArray[np.void]:
        """``ROW[n]`` of the recorded games by game and turn."""
        episodes = recorder.episodes()
        return _packed(episodes, learner.label(episodes, engine))

    def numbers(self, epoch: int) -> NDArray[np.int64]:
        """``int64[games]``: the games of ``epoch``."""
        return epoch * self.games + np.arange(self.games)

    def starts(self, epoch: int) -> Boards:
        """``int8[games, 2, 25]``: where the games of ``epoch`` start."""
        numbers = self.numbers(epoch)
        boards = np.repeat(START[None], self.games, axis=0)
        rows = np.flatnonzero(uniform(hash64(self.seed, "special game", numbers)) < self.special)
        boards[rows] = special_starts(len(rows), self.kinds, self.seed, epoch)
        return boards

    def _learner(self) -> Labeller:
        learner = self.trainer.lightning_module if self.trainer is not None else None
        if not isinstance(learner, Labeller):
            raise RaccoonError(f"data: plays the games of a trainer that learns from them; choose {TRAINER_FOR[self.gives]}")
        return learner

    @staticmethod
    def _actors(executor: Mapping[str, Any] | PersistentExecutor | None, actors: int | None, games: int) -> Actors:
        if actors is not None:
            whole("data.actors", actors, 0)
        made = build(executor, "data.executor", PersistentExecutor) if isinstance(executor, Mapping) else executor or ProcessExecutor()
        if not isinstance(made, PersistentExecutor):
            raise RaccoonError(f"data.ahead=true: {type(made).__name__} keeps no workers; choose executor=processes or ray")
        return Actors(made, actors, games)

    def _rank(self) -> tuple[int, int]:
        rank, world = (self.trainer.global_rank, self.trainer.world_size) if self.trainer is not None else (0, 1)
        if self.games < world:
            raise RaccoonError(f"data.games={self.games}: give at least one for each of the {world} processes")
        return rank, world


def _packed(episodes: Episodes, targets: NDArray[np.float64]) -> NDArray[np.void]:
    """``ROW[n]`` of all states at which the dice were thrown, by game and turn."""
    rolled = episodes.rolled
    game = ragged.spread(episodes.games, episodes.offsets)
    return pack(episodes.boards[rolled], five_from_six(targets[rolled]), game[rolled], episodes.turn[rolled], SELFPLAY)


def _gathered(rows: NDArray[np.void], world: int) -> NDArray[np.void]:
    """The rows of all processes by game, the same on each; a game's rows are those of one process and stay in order."""
    if world == 1:
        return rows
    parts: list[Any] = [None] * world
    torch.distributed.all_gather_object(parts, rows)
    every = np.concatenate(parts)
    return every[np.argsort(every["game"], kind="stable")]


def _figures(made: Mapping[str, NDArray[Any]]) -> dict[str, float]:
    """What the log says of an epoch's games (in each process of its own ones); speeds are those of one actor."""
    capped, ended = made["capped"], np.abs(made["points"][~made["capped"]])
    figures = {
        "play/games_per_s": len(capped) / float(made["seconds"][0]),
        "play/labels_per_s": len(made["rows"]) / max(float(made["seconds"][1]), 1e-9),
        "play/rolls": float(made["rolls"].mean()),
        "play/gammons": float((ended > 1).mean()) if len(ended) else 0.0,
        "play/capped": float(capped.mean()),
    }
    return figures | ({"play/late_s": float(made["late"])} if "late" in made else {})

"""The callback ``vr``: points per game of the network under training against an opponent, the luck of the dice taken out."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback

from raccoon.checks import whole
from raccoon.config.instantiate import build
from raccoon.contracts import Figure, Player, RaccoonError
from raccoon.eval.arena.vr_arena import VRArena
from raccoon.executor import Executor, ProcessExecutor
from raccoon.model import checkpoint_file
from raccoon.train.contract import network_of
from raccoon.train.final import engine_node

__all__ = ["ArenaPoints"]


class ArenaPoints(Callback):
    """Logs ``val/vr_ppg`` and ``val/vr_ppg_half``, the half width of its 95% interval, after every ``every``-th epoch.

    ``games`` of the network's static play against ``opponent`` (a config node), in shards of ``shard_games`` on ``executor`` (node
    or object); the same dice (``seed``) every time, so that epochs differ by play alone. As with the PR the first and the last
    epoch are scored too, the others carry the last score, and the averaged weights are scored where there are any.
    """

    def __init__(
        self,
        opponent: Mapping[str, Any],
        every: int = 10,
        games: int = 200,
        shard_games: int = 50,
        turn_cap: int = 1000,
        seed: int = 1,
        executor: Mapping[str, Any] | Executor | None = None,
    ) -> None:
        self.every = whole("callbacks.vr.every", every, 1)
        whole("callbacks.vr.games", games, 3)
        whole("callbacks.vr.shard_games", shard_games, 1)
        build(opponent, "callbacks.vr.opponent", Player)  # in vain, so that a bad one is refused before any label is made
        self.opponent = dict(opponent)
        self.seed = whole("callbacks.vr.seed", seed, 0)
        made = build(executor, "executor", Executor) if isinstance(executor, Mapping) else executor or ProcessExecutor()
        self.arena = VRArena(made, games=games, shard_games=shard_games, turn_cap=turn_cap)
        self._last = (math.inf, math.inf)

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Play and log."""
        if trainer.sanity_checking:
            return
        if self._due(trainer):
            played = self._play(Path(trainer.default_root_dir) / ".vr", pl_module) if trainer.is_global_zero else (0.0, 0.0)
            value, half = trainer.strategy.broadcast(played)
            self._last = float(value), float(half)
        pl_module.log("val/vr_ppg", self._last[0], rank_zero_only=False)
        pl_module.log("val/vr_ppg_half", self._last[1], rank_zero_only=False)

    def _due(self, trainer: pl.Trainer) -> bool:
        epoch = trainer.current_epoch + 1
        return epoch % self.every == 0 or epoch == trainer.max_epochs or trainer.should_stop or not math.isfinite(self._last[0])

    def _play(self, folder: Path, pl_module: pl.LightningModule) -> tuple[float, float]:
        net = network_of(pl_module, "callbacks.vr")
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed here: its games were another network's
        folder.mkdir(parents=True)
        checkpoint_file.save(folder / "net.pt", net, {})
        engine = engine_node(folder / "net.pt", net.device, self.arena.executor)
        player = {"_target_": "raccoon.play.EnginePlayer", "name": "training", "engine": engine}
        report = self.arena.run(player, self.opponent, folder, self.seed)
        shutil.rmtree(folder)
        return _with_half(report.figures.get("ppg_vr"))

    def state_dict(self) -> dict[str, list[float]]:
        return {"last": list(self._last)}

    def load_state_dict(self, state_dict: dict[str, list[float]]) -> None:
        self._last = state_dict["last"][0], state_dict["last"][1]


def _with_half(figure: Figure | None) -> tuple[float, float]:
    if figure is None:
        raise RaccoonError("callbacks.vr: fewer than three games ended; raise callbacks.vr.games or turn_cap")
    return figure.value, math.nan if figure.lo is None or figure.hi is None else (figure.hi - figure.lo) / 2

"""The callback ``vr``: points per game of the network under training against an opponent, the luck of the dice taken out."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning.pytorch as pl

from raccoon.checks import whole
from raccoon.config.instantiate import build
from raccoon.contracts import Figure, Player, RaccoonError
from raccoon.eval.arena.vr_arena import VRArena
from raccoon.executor import Executor, ProcessExecutor
from raccoon.model import checkpoint_file
from raccoon.train.callbacks.seldom import SeldomMeasured
from raccoon.train.contract import network_of
from raccoon.train.final import engine_node

__all__ = ["ArenaPoints"]


class ArenaPoints(SeldomMeasured):
    """Logs ``val/vr_ppg`` and ``val/vr_ppg_half``, the half width of its 95% interval, after every ``every``-th epoch.

    ``games`` of the network's static play against ``opponent`` (a config node), in shards of ``shard_games`` on ``executor`` (node
    or object); the same dice (``seed``) every time, so that epochs differ by play alone. As with the PR the first and the last
    epoch are scored too, the others carry the last score, and the averaged weights are scored where there are any.
    """

    figures = ("val/vr_ppg", "val/vr_ppg_half")
    option = "vr"

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
        super().__init__(every)
        whole("callbacks.vr.games", games, 3)
        whole("callbacks.vr.shard_games", shard_games, 1)
        build(opponent, "callbacks.vr.opponent", Player)  # in vain, so that a bad one is refused before any label is made
        self.opponent = dict(opponent)
        self.seed = whole("callbacks.vr.seed", seed, 0)
        made = build(executor, "executor", Executor) if isinstance(executor, Mapping) else executor or ProcessExecutor()
        self.arena = VRArena(made, games=games, shard_games=shard_games, turn_cap=turn_cap)

    def measure(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> tuple[float, float]:
        return self._play(Path(trainer.default_root_dir) / ".vr", pl_module)

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


def _with_half(figure: Figure | None) -> tuple[float, float]:
    if figure is None:
        raise RaccoonError("callbacks.vr: fewer than three games ended; raise callbacks.vr.games or turn_cap")
    return figure.value, math.nan if figure.lo is None or figure.hi is None else (figure.hi - figure.lo) / 2

"""The DataModule: labelled positions for training, whole games held out, made first when they are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lightning.pytorch as pl

from raccoon.checks import whole
from raccoon.config.instantiate import build
from raccoon.contracts import RaccoonError
from raccoon.data.contract import Kind
from raccoon.data.label_sets.store import DECISIONS, PositionStore, read_meta
from raccoon.data.label_sets.writer import Source, check_minutes, prepare
from raccoon.data.loader import HeldOutLoader, TrainLoader
from raccoon.data.sampler import RowOrder
from raccoon.executor import Executor, ProcessExecutor

__all__ = ["PositionData"]


class PositionData(pl.LightningDataModule):
    """Batches ``(boards int8[N, 2, 25], probs6 float32[N, 6])``, pre-roll, side on roll; ``JointBatch``es from sets of decisions.

    source: config node of a set to make (or find) under ``data_dir``; ``folders``: existing sets, read together (one of
    the two is needed, both may be given); ``partial`` also takes unfinished ones, as far as they are. ``batch_size`` for
    training, ``val_batch_size`` for validation. ``holdout``: share of the games (0 to 0.5) kept for validation, at most
    ``val_rows`` rows of them are read. ``seed`` orders the rows; with ``siblings`` plays of
    one turn stay together and training batches say which rows these are (``SiblingBatch``). ``prefetch`` batches are made ahead.
    ``minutes``: how long making the set may take, after which it ends with what is done (null: no limit; see ``writer.prepare``).
    ``executor``: node or object that makes the set.
    """

    def __init__(
        self,
        source: Mapping[str, Any] | None = None,
        folders: Sequence[str] | str | None = None,
        data_dir: str = "data",
        batch_size: int = 512,
        val_batch_size: int = 4096,
        holdout: float = 0.02,
        val_rows: int = 100_000,
        seed: int = 1,
        prefetch: int = 8,
        partial: bool = False,
        siblings: bool = False,
        minutes: float | None = None,
        executor: Mapping[str, Any] | Executor | None = None,
    ) -> None:
        super().__init__()
        sizes = {"batch_size": (batch_size, 1), "val_batch_size": (val_batch_size, 1), "val_rows": (val_rows, 1), "prefetch": (prefetch, 0)}
        for key, (value, least) in sizes.items():
            whole(f"data.{key}", value, least)
        whole("data.seed", seed, 0)
        if not 0 <= holdout <= 0.5:
            raise RaccoonError(f"data.holdout={holdout}: give a share of the games, 0 to 0.5")
        self.folders = [folders] if isinstance(folders, str) else list(folders or [])
        if not source and not self.folders:
            raise RaccoonError("data.source, data.folders: neither is given; name a set to make or folders to read")
        self.source: Source | None = build(source, "data.source", Source) if source else None
        self.data_dir = Path(data_dir)
        self.batch_size = batch_size
        self.val_batch_size = val_batch_size
        self.holdout = holdout
        self.val_rows = val_rows
        self.seed = seed
        self.prefetch = prefetch
        self.partial = partial
        self.siblings = siblings
        self.minutes = None if minutes is None else check_minutes(minutes)
        self._executor = executor
        self._order: RowOrder | None = None

    @property
    def gives(self) -> Kind:
        """Whether the sets hold positions, or decisions with policy targets as well."""
        if self.source is not None:
            decisions = bool(getattr(self.source, "decisions", False))
        else:
            decisions = read_meta(Path(self.folders[0]))["format"] == DECISIONS
        return "decisions" if decisions else "positions"

    def prepare_data(self) -> None:
        """Make the set of ``source`` unless it is there. Lightning calls this once a machine."""
        if self.source is not None:
            prepare(self.source, self.data_dir, self._executor_object(), self.minutes)

    def setup(self, stage: str | None = None) -> None:
        """Open the sets. Raises RaccoonError naming the file when one cannot be used."""
        if self._order is None:
            stores = [PositionStore.open(folder, partial=self.partial) for folder in self.folders]
            if self.source is not None:
                stores.append(prepare(self.source, self.data_dir, self._executor_object(), self.minutes))
            if self.siblings and stores[0].meta["format"] == DECISIONS:
                raise RaccoonError("data.siblings=true: sets of decisions keep the plays of a turn in one row; set it to false")
            self._order = RowOrder(stores, self.seed, self.holdout, self.val_rows, siblings=self.siblings)

    @property
    def order(self) -> RowOrder:
        """The row order; ``setup`` must have run."""
        if self._order is None:
            raise RaccoonError("PositionData: call prepare_data() and setup() first")
        return self._order

    @property
    def stores(self) -> list[PositionStore]:
        """The sets that are read."""
        return self.order.stores

    def train_dataloader(self) -> TrainLoader:
        """Shuffled full batches; see ``TrainLoader``."""
        return TrainLoader(self.order, self.batch_size, *self._rank(), prefetch=self.prefetch)

    def val_dataloader(self) -> HeldOutLoader | list[HeldOutLoader]:
        """Rows of held-out games, in order; an empty list (Lightning then skips validation) when there are none."""
        if not len(self.order.held):
            return []
        return HeldOutLoader(self.order.held, self.val_batch_size, *self._rank())

    def _rank(self) -> tuple[int, int]:
        trainer = self.trainer
        return (trainer.global_rank, trainer.world_size) if trainer is not None else (0, 1)

    def _executor_object(self) -> Executor:
        if self._executor is None:
            return ProcessExecutor()
        return build(self._executor, "executor", Executor) if isinstance(self._executor, Mapping) else self._executor

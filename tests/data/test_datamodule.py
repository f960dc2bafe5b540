"""The DataModule under Lightning: makes its set, holds games out, resumes in the middle of an epoch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from raccoon.contracts import RaccoonError
from raccoon.data.datamodule import PositionData
from raccoon.data.label_sets.generate import SelfPlayLabels
from raccoon.data.label_sets.store import PositionStore, signed
from raccoon.data.loader import HeldOutLoader
from raccoon.executor import ProcessExecutor

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning"),  # Lightning 2.6 under torch 2.13
    pytest.mark.filterwarnings("ignore:Be aware that when using `ckpt_path`:UserWarning"),
]

SOURCE = "raccoon.data.SelfPlayLabels"


class Recording(pl.LightningModule):
    """A regression of one weight that remembers a number for every batch it saw."""

    def __init__(self, stop_at: int = -1) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(50, 1)
        self.seen: list[tuple[int, int]] = []
        self.validated = 0
        self.stop_at = stop_at

    def training_step(self, batch: Any, batch_index: int) -> torch.Tensor:
        boards, probs = batch
        if self.global_step == self.stop_at:
            raise KeyboardInterrupt
        weights = torch.arange(1, boards.numel() + 1)
        self.seen.append((self.current_epoch, int((boards.flatten().long() * weights).sum())))
        return ((self.layer(boards.flatten(1).float()).squeeze(1) - probs[:, 0]) ** 2).mean()

    def validation_step(self, batch: Any, batch_index: int) -> None:
        self.validated += len(batch[0])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=1e-4)


def trainer(folder: Path, **knobs: Any) -> pl.Trainer:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    return pl.Trainer(default_root_dir=folder, max_epochs=2, **quiet, **knobs)


def data(store: PositionStore, **knobs: Any) -> PositionData:
    return PositionData(folders=str(store.folder), batch_size=64, **{"holdout": 0.2, **knobs})


def test_lightning_trains_on_it_and_resumes_in_mid_epoch(small: PositionStore, tmp_path: Path) -> None:
    whole = Recording()
    trainer(tmp_path, enable_checkpointing=False).fit(whole, data(small))
    made = data(small)
    made.setup()
    steps = len(made.train_dataloader())
    assert len(whole.seen) == 2 * steps
    assert {batch for epoch, batch in whole.seen if epoch == 0} != {batch for epoch, batch in whole.seen if epoch == 1}
    assert whole.validated >= 2 * len(made.order.held)
    stop = steps + 3
    saving = ModelCheckpoint(tmp_path, filename="at-{step}", every_n_train_steps=stop, save_top_k=-1)
    first = Recording(stop_at=stop)
    with pytest.raises(SystemExit):
        trainer(tmp_path, callbacks=[saving]).fit(first, data(small))
    second = Recording()
    trainer(tmp_path, enable_checkpointing=False).fit(second, data(small), ckpt_path=str(tmp_path / f"at-step={stop}.ckpt"))
    assert first.seen + second.seen == whole.seen


def test_it_makes_its_set_and_finds_it_again(
    knobs: dict[str, Any], labels: Callable[..., SelfPlayLabels], small: PositionStore, tmp_path: Path
) -> None:
    source = {"_target_": SOURCE, "_recursive_": False, **knobs}
    executor = {"_target_": "raccoon.executor.ProcessExecutor", "workers": 0, "progress": False}
    made = PositionData(source, data_dir=str(tmp_path), batch_size=64, holdout=0.2, executor=executor)
    made.prepare_data()
    folder = tmp_path / f"small-{labels().plan().fingerprint}"
    assert folder.is_dir()
    again = PositionData(source, data_dir=str(tmp_path), batch_size=64, holdout=0.2, executor=ProcessExecutor(0, progress=False))
    again.setup("fit")
    assert again.stores[0].fingerprint == small.fingerprint
    both = PositionData(source, folders=[str(small.folder)], data_dir=str(tmp_path), batch_size=64, holdout=0.2)
    both.setup()
    assert len(both.order) == 2 * len(again.order)


def test_an_unfinished_set_is_read_only_when_asked_for(small: PositionStore, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(small.folder, tmp_path / "copy"))
    meta = json.loads((folder / "meta.json").read_text())
    meta["complete"] = False
    del meta["shards"]["1"]
    (folder / "meta.json").write_text(json.dumps(signed(meta)))
    with pytest.raises(RaccoonError, match="incomplete"):
        PositionData(folders=str(folder)).setup()
    some = PositionData(folders=str(folder), partial=True, holdout=0.0)
    some.setup()
    assert len(some.order) == len(small.shard(0)) + len(small.shard(2))


def test_without_held_out_games_there_is_no_validation(small: PositionStore) -> None:
    made = data(small, holdout=0.0)
    made.setup()
    assert made.val_dataloader() == []
    some = data(small)
    some.setup()
    assert isinstance(some.val_dataloader(), HeldOutLoader)


@pytest.mark.parametrize(
    ("knobs", "key"),
    [
        ({"folders": None}, "data.source, data.folders"),
        ({"folders": "x", "batch_size": 0}, "data.batch_size=0"),
        ({"folders": "x", "holdout": 0.9}, "data.holdout=0.9"),
        ({"folders": "x", "prefetch": -1}, "data.prefetch=-1"),
        ({"folders": "x", "seed": -1}, "data.seed=-1"),
    ],
)
def test_bad_knobs_are_named(knobs: dict[str, Any], key: str) -> None:
    with pytest.raises(RaccoonError, match=key):
        PositionData(**knobs)


def test_a_missing_set_is_named_and_setup_comes_first(small: PositionStore, tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match="nowhere"):
        PositionData(folders=str(tmp_path / "nowhere")).setup()
    with pytest.raises(RaccoonError, match="setup"):
        data(small).train_dataloader()

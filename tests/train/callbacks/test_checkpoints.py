"""Checkpoints are written whole or not at all."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.train.callbacks.checkpoints import AtomicCheckpointIO, checkpoint_callbacks, peek


@pytest.fixture
def little_room() -> Iterator[None]:
    """Files of this process may not grow beyond 40 kB: the write fails in the middle, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("sizes", [[100_000], [100] * 200, [5_000, 5_000, 100_000]], ids=["one", "many", "late"])
def test_a_write_that_fails_is_named_and_keeps_the_old_file(tmp_path: Path, sizes: list[int]) -> None:
    path = tmp_path / "last.ckpt"
    path.write_bytes(b"old")
    checkpoint = {"state_dict": {str(i): torch.zeros(size) for i, size in enumerate(sizes)}}
    with pytest.raises(RaccoonError, match=r"last\.ckpt: cannot be written"):
        AtomicCheckpointIO().save_checkpoint(checkpoint, path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["last.ckpt"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("content", [{"state_dict": {}, "raccoon": {}}, [1]])
def test_a_file_that_no_training_wrote_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "last.ckpt")
    with pytest.raises(RaccoonError, match=r"last\.ckpt: not the checkpoint of a training run"):
        peek(tmp_path / "last.ckpt")


def test_a_continued_run_remembers_the_score_of_its_last_epoch(tmp_path: Path) -> None:
    """Under the key that checkpoints have always had."""
    first, again = (checkpoint_callbacks(tmp_path, "val/mse", None)[0] for _ in range(2))
    first.current_score = torch.tensor(2.0)
    again.load_state_dict(first.state_dict())
    assert again.current_score == 2.0
    assert again.state_key.startswith("ModelCheckpoint{'monitor': 'val/mse'")

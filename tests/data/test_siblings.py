"""Rows of one turn: kept together in the order, numbered in the batch, compared with each other in the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from raccoon.data.datamodule import PositionData
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.sampler import same_turn
from raccoon.train.objectives.losses import sibling_mse


def test_plays_of_a_turn_stay_together(small: PositionStore) -> None:
    def batches(siblings: bool) -> list[Any]:
        data = PositionData(folders=str(small.folder), batch_size=64, holdout=0.1, prefetch=0, siblings=siblings)
        data.setup()
        rows = np.concatenate(list(data.order.windows()))
        plain = PositionData(folders=str(small.folder), batch_size=64, holdout=0.1, prefetch=0)
        plain.setup()
        assert sorted(map(bytes, rows)) == sorted(map(bytes, np.concatenate(list(plain.order.windows()))))
        turns = {(int(row["game"]), int(row["turn"])) for row in rows}
        if siblings:
            assert same_turn(rows)[-1] + 1 == len(turns)
            assert [int(g) for g in rows["game"]] != sorted(int(g) for g in rows["game"])
        return list(data.train_dataloader())

    for boards, probs6, siblings in batches(True):
        assert len(boards) == len(probs6) == len(siblings) == 64
        assert siblings[0] == 0
        assert set(np.unique(np.diff(siblings.numpy())).tolist()) <= {0, 1}
    assert all(len(batch) == 2 for batch in batches(False))


def test_the_loss_is_that_of_the_differences() -> None:
    value = torch.tensor([0.1, 0.4, -0.2, 0.3, 0.9])
    target = torch.tensor([0.0, 0.2, -0.2, 0.0, 0.1])
    siblings = torch.tensor([0, 0, 0, 1, 2])
    expected = np.square([0.0, 0.1, -0.1, 0.0, 0.0]).mean()  # errors .1 .2 0 less their mean .1; plays that are alone have none
    assert sibling_mse(value, target, siblings).item() == pytest.approx(expected)
    assert sibling_mse(value + 0.5, target, siblings).item() == pytest.approx(expected)

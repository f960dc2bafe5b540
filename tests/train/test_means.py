"""Means of an epoch that a checkpoint in its middle keeps."""

from __future__ import annotations

import torch

from raccoon.train.means import RunningMeans


def one(name: str, value: float) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(value)}


def test_only_what_was_committed_counts_and_survives() -> None:
    means = RunningMeans()
    for value in (1.0, 2.0, 6.0):
        means.add(one("loss", value))
        means.commit()
    means.add(one("policy", 5.0))
    means.commit()
    means.add(one("loss", 1000.0))  # of a step that was abandoned
    other = RunningMeans()
    other.load_state_dict(means.state_dict())
    other.add(one("loss", 3.0))
    other.commit()
    assert {name: mean.item() for name, mean in other.means().items()} == {"loss": 3.0, "policy": 5.0}
    other.clear()
    assert other.means() == {}


def test_the_sums_of_several_processes_become_one() -> None:
    means = RunningMeans()
    means.add(one("loss", 4.0))
    means.commit()
    assert means.state_dict(lambda sums: sums / 2)["loss"].tolist() == [2.0, 0.5]

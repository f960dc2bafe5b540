"""Learning rate factors against the closed form and torch's own cosine."""

from __future__ import annotations

import pytest
import torch

from raccoon.train.schedules import lr_factor


def test_cosine_equals_torch():
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)
    for step in range(41):
        assert lr_factor(step, kind="cosine", total=40) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9)
        optimizer.step()
        scheduler.step()


def test_cosine_ends_at_zero_and_stays():
    assert lr_factor(100, kind="cosine", total=100, warmup=10) == pytest.approx(0.0, abs=1e-15)
    assert lr_factor(150, kind="cosine", total=100, warmup=10) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("kind", ["cosine", "constant"])
def test_warm_up_rises_to_one_and_never_starts_at_zero(kind):
    factors = [lr_factor(step, kind=kind, total=100, warmup=9) for step in range(10)]
    assert factors == pytest.approx([(step + 1) / 10 for step in range(9)] + [1.0])


def test_constant():
    assert lr_factor(99, kind="constant", total=100) == 1.0


def test_a_run_shorter_than_its_warm_up():
    assert 0 < lr_factor(3, kind="cosine", total=4, warmup=10) < 1

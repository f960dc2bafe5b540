"""Order, holdout and the loaders: pure functions of (seed, epoch), nothing lost, nothing twice, resumable."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.data import loader as loaders
from raccoon.data.label_sets.rows import unpack6
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.loader import Batch, HeldOutLoader, TrainLoader
from raccoon.data.sampler import RowOrder, held_out
from raccoon.env.position_ids import position_keys

Batches = Sequence[Batch]


def order(store: PositionStore, seed: int = 1, holdout: float = 0.2, **knobs: Any) -> RowOrder:
    return RowOrder([store], seed, holdout, **{"held_limit": 10**6, "block": 64, "window": 256, **knobs})


def rows_of(batches: Batches) -> list[bytes]:
    """Boards and labels as bytes, one entry a row."""
    return [
        bytes(key) + target.tobytes()
        for batch in batches
        for key, target in zip(position_keys(batch[0].numpy()), batch[1].numpy(), strict=True)
    ]


def same(a: Batches, b: Batches) -> bool:
    return len(a) == len(b) and all(torch.equal(x[0], y[0]) and torch.equal(x[1], y[1]) for x, y in zip(a, b, strict=True))


def test_whole_games_are_held_out(small: PositionStore) -> None:
    rows = small.rows(np.arange(len(small)))
    mask = held_out(rows["game"], 0.2)
    held, kept = set(rows["game"][mask].tolist()), set(rows["game"][~mask].tolist())
    assert held
    assert kept
    assert not held & kept
    share = held_out(np.arange(100_000), 0.02).mean()
    assert share == pytest.approx(0.02, abs=0.002)
    assert not held_out(rows["game"], 0.0).any()
    small_share, large_share = held_out(np.arange(1000), 0.1), held_out(np.arange(1000), 0.2)
    assert (large_share | ~small_share).all()  # a larger share holds out the same games and more


def test_an_epoch_is_every_row_once(small: PositionStore) -> None:
    made = order(small)
    windows = np.concatenate(list(made.windows()))
    assert len(windows) == len(made)
    rows = small.rows(np.arange(len(small)))
    expected = rows[~held_out(rows["game"], 0.2)]
    assert sorted(row.tobytes() for row in windows) == sorted(row.tobytes() for row in expected)
    assert sorted(row.tobytes() for row in made.held) == sorted(row.tobytes() for row in rows[held_out(rows["game"], 0.2)])
    assert len(order(small, held_limit=10).held) == 10


def test_the_order_depends_on_seed_and_epoch_alone(small: PositionStore) -> None:
    first, again, other = order(small), order(small), order(small, seed=2)
    a, b = (np.concatenate(list(o.windows())) for o in (first, again))
    assert (a == b).all()
    assert (np.concatenate(list(other.windows())) != a).any()
    first.set_epoch(1)
    assert (np.concatenate(list(first.windows())) != a).any()
    first.set_epoch(0)
    assert (np.concatenate(list(first.windows())) == a).all()


def test_rows_are_mixed_across_the_set(small: PositionStore) -> None:
    windows = list(order(small, holdout=0.0, window=1 << 20).windows())
    assert len(windows) == 1
    games = windows[0]["game"].astype(np.float64)
    assert abs(np.corrcoef(games[:-1], games[1:])[0, 1]) < 0.15


def test_batches_are_full_and_decode_to_the_rows(small: PositionStore) -> None:
    loader = TrainLoader(order(small), 50)
    batches = list(loader)
    assert len(batches) == len(loader) == len(order(small)) // 50
    assert all(batch[0].shape == (50, 2, 25) and batch[0].dtype == torch.int8 for batch in batches)
    assert all(batch[1].shape == (50, 6) and batch[1].dtype == torch.float32 for batch in batches)
    rows = np.concatenate(list(order(small).windows()))[: 50 * len(batches)]
    boards, probs = unpack6(rows)
    assert same(batches, [(torch.from_numpy(boards[i : i + 50]), torch.from_numpy(probs[i : i + 50])) for i in range(0, len(rows), 50)])


def test_reading_ahead_changes_nothing(small: PositionStore) -> None:
    assert same(list(TrainLoader(order(small), 32, prefetch=0)), list(TrainLoader(order(small), 32, prefetch=3)))


def test_a_run_stopped_in_mid_epoch_goes_on_with_the_next_batch(small: PositionStore) -> None:
    whole = list(TrainLoader(order(small), 32))
    stopped = TrainLoader(order(small), 32)
    reading = iter(stopped)
    first = [next(reading) for _ in range(5)]
    state = stopped.state_dict()
    assert state == {"epoch": 0, "batches": 5}
    resumed = TrainLoader(order(small), 32)
    resumed.load_state_dict(state)
    assert same(first + list(resumed), whole)
    assert same(list(resumed), whole)  # the next pass starts at the beginning


def test_a_state_from_the_end_of_an_epoch_starts_the_next_one(small: PositionStore) -> None:
    loader = TrainLoader(order(small), 32)
    list(loader)
    loader.sampler.set_epoch(1)
    second = list(loader)
    resumed = TrainLoader(order(small), 32)
    resumed.load_state_dict({"epoch": 0, "batches": len(loader)})
    resumed.sampler.set_epoch(1)
    assert same(list(resumed), second)


def test_two_processes_share_an_epoch(small: PositionStore) -> None:
    parts = [list(TrainLoader(order(small), 32, rank, 2)) for rank in range(2)]
    assert len(parts[0]) == len(parts[1])
    merged = [batch for pair in zip(*parts, strict=True) for batch in pair]
    assert same(merged, list(TrainLoader(order(small), 32))[: len(merged)])


def test_held_out_rows_come_in_order(small: PositionStore) -> None:
    held = order(small).held
    loader = HeldOutLoader(held, 33)
    batches = list(loader)
    assert len(batches) == len(loader)
    boards, probs = unpack6(held)
    assert torch.equal(torch.cat([batch[0] for batch in batches]), torch.from_numpy(boards))
    assert torch.equal(torch.cat([batch[1] for batch in batches]), torch.from_numpy(probs))
    halves = [rows_of(list(HeldOutLoader(held, 33, rank, 2))) for rank in range(2)]
    assert sorted(halves[0] + halves[1]) == sorted(rows_of(batches))


def test_leaving_early_stops_the_thread_and_errors_arrive(small: PositionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> list[str]:
        return [thread.name for thread in threading.enumerate()]

    for _ in TrainLoader(order(small), 16, prefetch=2):
        assert "raccoon-loader" in names()
        break
    import gc

    gc.collect()
    assert "raccoon-loader" not in names()

    def broken(rows: Any) -> Iterator[Any]:
        raise RaccoonError("row 3 is broken")

    monkeypatch.setattr(loaders, "unpack6", broken)
    with pytest.raises(RaccoonError, match="row 3 is broken"):
        list(TrainLoader(order(small), 16, prefetch=2))


def test_too_few_rows_are_refused_by_name(small: PositionStore) -> None:
    with pytest.raises(RaccoonError, match=r"data\.batch_size=100000"):
        TrainLoader(order(small), 100_000)
    with pytest.raises(RaccoonError, match=r"data\.holdout=1"):
        order(small, holdout=1.0)

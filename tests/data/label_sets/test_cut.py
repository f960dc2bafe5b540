"""Sets whose making was cut short by a time budget: what they hold, and that later commands take the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets import writer
from raccoon.data.label_sets.links import link_set
from raccoon.data.label_sets.store import PositionStore, shard_path
from raccoon.data.label_sets.writer import Plan, fill, prepare
from raccoon.executor import ProcessExecutor
from raccoon.progress import Work


class Clocked:
    """Runs shards in pairs, the later one of a pair first; each takes a minute."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.ran = 0.0, list[int]()
        monkeypatch.setattr(writer.time, "monotonic", lambda: self.now)

    def map(self, shard: Any, job: Mapping[str, Any], indices: Sequence[int], work: Work) -> Any:
        for at in range(0, len(indices), 2):
            for index in reversed(indices[at : at + 2]):
                self.now += 60
                self.ran.append(index)
                yield index, shard(job, index)


class Walks:
    """Nine shards of the rows of a set."""

    name = "walks"

    def __init__(self, rows: Any, count: int = 9) -> None:
        self.rows, self.count = rows, count

    def plan(self) -> Plan:
        return Plan({"kind": "walks"}, lambda _, index: {"rows": self.rows[10 * index : 10 * index + 10]}, {}, self.count, "walks")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clocked:
    return Clocked(monkeypatch)


@pytest.fixture
def source(small: PositionStore) -> Walks:
    return Walks(small.rows(np.arange(90)))


def test_time_ends_a_set_with_the_shards_up_to_the_first_gap(clock: Clocked, source: Walks, tmp_path: Path) -> None:
    store = prepare(source, tmp_path, clock, minutes=5)
    assert clock.ran == [1, 0, 3, 2, 5]
    assert store.indices == [0, 1, 2, 3]  # 4 was not there yet
    assert store.meta["seconds"] == 300.0
    assert not shard_path(store.folder, 5).exists()
    assert store.folder.name == f"walks-{source.plan().fingerprint}-5min"
    whole = prepare(source, tmp_path, clock)
    assert (len(whole), len(store)) == (90, 40)
    np.testing.assert_array_equal(store.rows(np.arange(40)), whole.rows(np.arange(40)))
    assert store.fingerprint == whole.fingerprint  # the same rows in the same shards


def test_a_later_command_takes_the_same_rows_whatever_there_is_then(clock: Clocked, source: Walks, tmp_path: Path) -> None:
    store = prepare(source, tmp_path, clock, minutes=5)
    whole = prepare(source, tmp_path, clock)
    clock.ran.clear()
    assert prepare(source, tmp_path, clock, minutes=5).indices == store.indices
    assert len(PositionStore.open(store.folder)) == 40
    assert prepare(source, tmp_path, clock, minutes=3).folder == whole.folder  # nothing of 3 minutes was begun: all of it is there
    assert clock.ran == []


def test_time_counts_over_all_commands_and_one_shard_is_the_least(clock: Clocked, source: Walks, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    made = clock.map

    def killed(*arguments: Any) -> Any:
        results = made(*arguments)
        yield next(results)
        yield next(results)
        raise KeyboardInterrupt

    clock.map = killed  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(KeyboardInterrupt):
        fill(source.plan(), folder, clock, minutes=4)
    clock.map = made
    clock.now = 0.0  # another process
    assert fill(source.plan(), folder, clock, minutes=4).indices == [0, 1, 2, 3]
    assert clock.ran == [1, 0, 3, 2]
    assert prepare(source, tmp_path, clock, minutes=0.1).indices == [0, 1]  # the second came first


def test_a_budget_that_is_not_needed_changes_nothing(clock: Clocked, source: Walks, tmp_path: Path) -> None:
    store = prepare(source, tmp_path, clock, minutes=60)
    assert len(store) == 90
    source.count = 5
    assert len(prepare(source, tmp_path, clock, minutes=60)) == 50
    with pytest.raises(RaccoonError, match=r"data\.minutes=-1: give a number above 0, or null"):
        prepare(source, tmp_path, clock, minutes=-1)


def test_a_set_that_was_cut_is_not_grown_unasked(clock: Clocked, source: Walks, tmp_path: Path) -> None:
    fill(source.plan(), tmp_path / "set", clock, minutes=2)
    with pytest.raises(RaccoonError, match="was cut short; name another folder"):
        fill(source.plan(), tmp_path / "set", clock)


def test_workers_stop_when_time_is_up(labels: Any, tmp_path: Path) -> None:
    store = prepare(labels(games=4000), tmp_path, ProcessExecutor(0, progress=False), minutes=1e-4)
    assert store.indices == [0]
    assert store.meta["complete"]
    assert store.meta["seconds"] > 0


def test_links_keep_what_was_used_of_a_set_that_grows(clock: Clocked, source: Walks, tmp_path: Path) -> None:
    source.count = 3
    store = prepare(source, tmp_path, clock)
    link_set(store, tmp_path / "used")
    source.count = 9
    prepare(source, tmp_path, clock)
    used = PositionStore.open(tmp_path / "used")
    assert (len(used), used.fingerprint, used.meta["complete"]) == (30, store.fingerprint, True)
    np.testing.assert_array_equal(used.rows(np.arange(30)), source.rows[:30])
    source.count = 2
    link_set(prepare(source, tmp_path, clock), tmp_path / "used")
    assert len(PositionStore.open(tmp_path / "used")) == 20

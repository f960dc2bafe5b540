"""One writer a folder, whoever asks and however the last one died."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raccoon.contracts import RaccoonError
from raccoon.files import locks

FORK = multiprocessing.get_context("fork")  # quick to start, and the way in which a lock would leak into a child


def _hold(folder: Path, held: Any) -> None:
    with locks.writing(folder):
        held.set()
        signal.pause()


@contextlib.contextmanager
def another(folder: Path) -> Iterator[int]:
    """A process that holds the lock of ``folder``, killed at the end with SIGKILL."""
    held = FORK.Event()
    process = FORK.Process(target=_hold, args=(folder, held), daemon=True)
    process.start()
    assert held.wait(20)
    try:
        yield int(process.pid or 0)
    finally:
        process.kill()
        process.join()


def _contend(folder: Path, rounds: int, barrier: Any, writers: Any, most: Any, entered: Any) -> None:
    for _ in range(rounds):
        barrier.wait(60)
        held = locks.take(folder)
        if held is None:
            continue
        with held:
            with writers.get_lock():
                writers.value += 1
                most.value = max(most.value, writers.value)
                entered.value += 1
            time.sleep(0.001)
            with writers.get_lock():
                writers.value -= 1


def contend(folder: Path, rounds: int) -> tuple[int, int]:
    """Four processes that ask for one lock ``rounds`` times at once: the most writers at a time, and how often one got in."""
    barrier, values = FORK.Barrier(4), [FORK.Value("i", 0) for _ in range(3)]
    processes = [FORK.Process(target=_contend, args=(folder, rounds, barrier, *values), daemon=True) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    return values[1].value, values[2].value


@pytest.mark.parametrize("rounds", [10, pytest.param(150, marks=pytest.mark.slow)])
def test_never_two_writers_in_a_fresh_folder(tmp_path: Path, rounds: int) -> None:
    for start in range(0, rounds, 10):  # the race that matters is that for a folder without a lock file
        most, entered = contend(tmp_path / str(start), 1)
        assert (most, entered >= 1) == (1, True)
    most, entered = contend(tmp_path / "set", rounds)
    assert most == 1
    assert entered >= rounds


@pytest.mark.parametrize("rounds", [1, pytest.param(150, marks=pytest.mark.slow)])
def test_never_two_writers_after_a_killed_one(tmp_path: Path, rounds: int) -> None:
    for _ in range(rounds):
        with another(tmp_path):
            pass
        most, entered = contend(tmp_path, 1)
        assert (most, entered >= 1) == (1, True)


def test_a_holder_is_named_until_it_dies(tmp_path: Path) -> None:
    assert locks.holder(tmp_path) is None
    with another(tmp_path) as pid:
        name = f"process {pid} on {socket.gethostname()}"
        assert locks.holder(tmp_path) == name
        with pytest.raises(RaccoonError, match=f"being written by {name}; wait for it"), locks.writing(tmp_path):
            pytest.fail("two writers")
    assert locks.holder(tmp_path) is None
    with locks.writing(tmp_path):
        assert locks.holder(tmp_path) == f"process {os.getpid()} on {socket.gethostname()}"
        assert locks.take(tmp_path) is None  # a second one of this process is no better
    assert locks.holder(tmp_path) is None


def test_a_child_does_not_keep_the_lock_of_its_parent(tmp_path: Path) -> None:
    held = locks.take(tmp_path)
    assert held is not None
    child = FORK.Process(target=signal.pause, daemon=True)
    child.start()
    held.lock.release()
    assert locks.holder(tmp_path) is None
    child.kill()
    child.join()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1e999, "host": 1}', json.dumps({"pid": 2**70, "host": "x" * 10**7}), "\0" * 5000])
def test_what_the_file_says_decides_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / locks.NAME).write_text(text)
    assert locks.holder(tmp_path) is None
    with locks.writing(tmp_path):
        (tmp_path / locks.NAME).write_text(text)
        assert len(locks.holder(tmp_path) or "") in range(1, 200)


def test_looking_changes_nothing(tmp_path: Path) -> None:
    assert locks.holder(tmp_path / "none") is None
    os.mkfifo(tmp_path / locks.NAME)
    assert locks.holder(tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == [locks.NAME]
    with pytest.raises(RaccoonError, match="cannot be written"):
        locks.take(tmp_path)


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_is_no_folder_to_write_into(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RaccoonError, match="cannot be made a folder"), locks.writing(tmp_path / name):
        pytest.fail("locked")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_lock_file_that_was_removed_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, sign, removed = tmp_path / "runs" / "one", locks._sign, []

    def remove_first(handle: int) -> None:
        if len(removed) < often:
            removed.append((folder / locks.NAME).unlink())
            folder.rmdir()
        sign(handle)

    monkeypatch.setattr(locks, "_sign", remove_first)
    often = 2
    with locks.writing(folder):
        assert len(removed) == 2
        assert locks.holder(folder)
    often = 99
    with pytest.raises(RaccoonError, match=r"one: is removed by another process again and again"):
        locks.take(folder)

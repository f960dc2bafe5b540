"""Atomic files: whole or not at all, also on a full disk."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.files import atomic, make_folder, read_json, remove_left_over, write_csv, write_json, write_text
from raccoon.files.npz import write_arrays


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_text_json_and_arrays_round_trip(tmp_path: Path) -> None:
    write_text(tmp_path / "deep" / "a.txt", "gammon ü")
    assert (tmp_path / "deep" / "a.txt").read_text(encoding="utf-8") == "gammon ü"
    write_json(tmp_path / "a.json", {"n": np.int64(3), "x": np.arange(2), "p": tmp_path})
    assert read_json(tmp_path / "a.json") == {"n": 3, "x": [0, 1], "p": str(tmp_path)}
    write_arrays(tmp_path / "a.npz", {"x": np.arange(3), "y": 2.5})
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["x"].tolist() == [0, 1, 2]
        assert arrays["y"] == 2.5
    assert names(tmp_path) == ["a.json", "a.npz", "deep"]


def test_csv_has_the_columns_of_all_rows_and_nothing_for_none(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [{"game": 1, "luck": None}, {"game": 2, "luck": 0.1, "note": 'a "b", c'}])
    assert (tmp_path / "a.csv").read_text() == 'game,luck,note\n1,,\n2,0.1,"a ""b"", c"\n'
    write_csv(tmp_path / "none.csv", [])
    assert (tmp_path / "none.csv").read_text() == "\n"


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "old")

    def stopped() -> None:
        with atomic(tmp_path / "a") as handle:
            handle.write(b"new and half")
            raise KeyError

    with pytest.raises(KeyError):
        stopped()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "old")
    with atomic(tmp_path / "a") as handle:
        handle.write(b"new")
        assert (tmp_path / "a").read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"


def test_what_is_not_json_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not JSON: object"):
        write_json(tmp_path / "a", {"x": object()})
    assert names(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}"])
def test_broken_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(RaccoonError, match=r"a\.json: not readable as JSON"):
        read_json(tmp_path / "a.json")
    with pytest.raises(RaccoonError, match=r"gone\.json: not readable"):
        read_json(tmp_path / "gone.json")


def test_a_full_disk_at_the_flush_is_an_error_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "a", "old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RaccoonError, match=r"a: cannot be written \(No space left on device\); free some space"):
        write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_folder_that_is_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RaccoonError, match=r"file/a: cannot be written"):
        write_text(tmp_path / "file" / "a", "new")
    for name in ("file", "file/a"):
        with pytest.raises(RaccoonError, match=rf"{name}: cannot be made a folder"):
            make_folder(tmp_path / name)
    assert make_folder(tmp_path / "a" / "b") == make_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"


def _leave_half(path: Path) -> None:
    with atomic(path) as handle:
        handle.write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    killed = multiprocessing.get_context("fork").Process(target=_leave_half, args=(tmp_path / "deep" / "a.json",))
    killed.start()
    killed.join()
    (left,) = (tmp_path / "deep").iterdir()
    assert str(killed.pid) in left.name
    mine = left.name.replace(str(killed.pid), str(os.getpid()))  # of an earlier process with this number
    others = [
        left.name.replace(str(killed.pid), "1"), re.sub("@.*", "@elsewhere.tmp", left.name), ".x.tmp", ".a.5x@y.tmp", "a.json", "x.tmp",
    ]  # fmt: skip
    for name in (mine, *others):
        (tmp_path / "deep" / name).touch()
    remove_left_over(tmp_path)
    assert left.exists()
    with atomic(tmp_path / "deep" / "b.json"):
        remove_left_over(tmp_path, deep=True)
    assert names(tmp_path / "deep") == sorted([*others, "b.json"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 1 MB, or the stand-in with a quota when mounting is not permitted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if mounted:
        yield disk
        subprocess.run(["umount", str(disk)], check=True)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    yield disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_of_one_megabyte(small_disk: Path) -> None:
    write_json(small_disk / "kept.json", {"kept": True})
    with pytest.raises(RaccoonError, match=r"big\.npz: cannot be written"):
        write_arrays(small_disk / "big.npz", {"x": np.zeros(1 << 20)})
    assert json.loads((small_disk / "kept.json").read_text()) == {"kept": True}
    assert names(small_disk) == ["kept.json"]
    write_arrays(small_disk / "small.npz", {"x": np.zeros(8)})
    assert names(small_disk) == ["kept.json", "small.npz"]

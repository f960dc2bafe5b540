"""The shard executor: results do not depend on workers, lost workers or interruptions."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.executor import ProcessExecutor, Shard, Work, core_count, fingerprint, processes, run_shards
from raccoon.progress import advance, expect
from raccoon.rng import generator

HERE = Path(__file__).parent


def draw(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {"x": generator(job["seed"], "test", index).normal(size=4), "index": index}


def dies_once(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    flag = Path(job["folder"]) / f"died-{index}"
    if index in job["dies"] and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"index": index}


def always_dies(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def refuses(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    raise RaccoonError(f"shard {index}: bad knob")


def threads(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    expect(8)
    advance(3)
    return {"omp": os.environ["OMP_NUM_THREADS"], "pid": os.getpid()}


class Counting:
    """Runs in this process and remembers which shards it was asked for; stops after ``limit`` of them."""

    def __init__(self, limit: int | None = None) -> None:
        self.asked: list[int] = []
        self.limit = limit

    def map(self, shard: Shard, job: Mapping[str, Any], indices: Sequence[int], work: Work) -> Iterator[tuple[int, dict[str, Any]]]:
        for done, index in enumerate(reversed(indices)):
            if done == self.limit:
                raise KeyboardInterrupt
            self.asked.append(index)
            yield index, shard(job, index)


def test_results_are_the_same_with_0_1_and_2_workers(tmp_path: Path) -> None:
    results = [
        run_shards(ProcessExecutor(workers, progress=False), draw, {"seed": 3}, 5, tmp_path / str(workers), Work("draw"))
        for workers in (0, 1, 2)
    ]
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.array_equal(a["x"], b["x"])
            assert a["index"] == b["index"]
    assert [int(r["index"]) for r in results[0]] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("workers", [-1, 1025, 2**40])
def test_workers_that_no_machine_has_are_refused(workers: int) -> None:
    with pytest.raises(RaccoonError, match=rf"executor\.workers={workers}: give 0 .* 1024 at most"):
        ProcessExecutor(workers)


@pytest.mark.parametrize("system", ["this one", "macOS"])
def test_cores_are_counted_by_what_the_system_offers(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    if system == "macOS":
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert 1 <= core_count() <= (os.cpu_count() or 1)
    assert ProcessExecutor().workers == core_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert core_count() >= 1


def test_shards_of_killed_workers_are_run_again(tmp_path: Path) -> None:
    job = {"folder": str(tmp_path), "dies": [1, 3]}
    found = dict(ProcessExecutor(2, progress=False).map(dies_once, job, range(5), Work("dies")))
    assert {index: int(result["index"]) for index, result in found.items()} == {i: i for i in range(5)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["died-1", "died-3"]


def test_shards_that_keep_killing_their_worker_are_reported() -> None:
    with pytest.raises(RaccoonError, match=r"died 3 times in a row while running shards \[0\].*executor\.workers=0"):
        list(ProcessExecutor(1, progress=False).map(always_dies, {}, [0], Work("dies")))


class _OneShardPool:
    """A pool that finishes the first shard that it is given and dies with the next."""

    def __init__(self, *settings: Any) -> None:
        self.given = 0

    def submit(self, run: Any, shard: Shard, job: Mapping[str, Any], index: int, place: int) -> futures.Future[dict[str, Any]]:
        future: futures.Future[dict[str, Any]] = futures.Future()
        if self.given:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(shard(job, index))
        self.given += 1
        return future

    def shutdown(self, **how: Any) -> None:
        pass


def test_deaths_with_results_between_them_are_not_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ProcessPoolExecutor", _OneShardPool)
    monkeypatch.setattr(processes.futures, "as_completed", iter)  # in the order of the shards
    found = dict(processes.ProcessWorkers(1).start(draw, {"seed": 1}, range(8)))  # seven pools die
    assert {index: int(result["index"]) for index, result in found.items()} == {i: i for i in range(8)}


@pytest.mark.parametrize("workers", [0, 1])
def test_errors_of_a_shard_reach_the_caller(workers: int) -> None:
    with pytest.raises(RaccoonError, match="shard 0: bad knob"):
        list(ProcessExecutor(workers, progress=False).map(refuses, {}, [0], Work("x")))


def test_workers_have_one_thread_say_what_they_have_done_and_the_parent_keeps_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    boards = []
    monkeypatch.setattr(processes, "metered", lambda results, work, indices, board, enabled: boards.append(board) or results)
    (found,) = [result for _, result in ProcessExecutor(1, progress=False).map(threads, {}, [5], Work("x"))]
    assert list(boards[0]) == [8, 3]
    assert found["omp"] == "1"
    assert found["pid"] != os.getpid()
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path) -> None:
    whole = run_shards(Counting(), draw, {"seed": 1}, 6, tmp_path / "whole", Work("x"))
    first = Counting(limit=4)
    with pytest.raises(KeyboardInterrupt):
        run_shards(first, draw, {"seed": 1}, 6, tmp_path / "cut", Work("x"))
    (tmp_path / "cut" / "shard-000005.npz").write_bytes(b"PK half a file")
    second = Counting()
    cut = run_shards(second, draw, {"seed": 1}, 6, tmp_path / "cut", Work("x"))
    assert first.asked == [5, 4, 3, 2]
    assert second.asked == [5, 1, 0]
    for a, b in zip(whole, cut, strict=True):
        assert np.array_equal(a["x"], b["x"])


def two_parts(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {"first": np.arange(5) + index, "second": np.array(["a", "b"])}


def test_damaged_shards_are_run_again_whatever_is_wrong_with_them(tmp_path: Path) -> None:
    whole = run_shards(Counting(), two_parts, {}, 2, tmp_path, Work("x"))
    file = tmp_path / "shard-000001.npz"
    good = file.read_bytes()
    bare = io.BytesIO()
    np.save(bare, np.arange(3))
    damaged = [b"", b"text", bare.getvalue(), good[: len(good) // 2], good[:-1]]
    directory = good.index(b"PK\x01\x02")
    places = [
        directory + 8,
        directory + 10,
        directory + 11,
        *range(len(good) - 22, len(good)),
        *range(0, len(good), 31),
    ]  # flags, method, end
    damaged += [good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in places]
    for content in damaged:
        file.write_bytes(content)
        again = run_shards(Counting(), two_parts, {}, 2, tmp_path, Work("x"))
        for a, b in zip(whole, again, strict=True):
            assert {key: value.tolist() for key, value in a.items()} == {key: value.tolist() for key, value in b.items()}


def test_too_many_shards_are_refused_before_any_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=r"games: 10,000,000,000 shards, 1,000,000 are the most"):
        run_shards(Counting(), draw, {}, 10**10, tmp_path / "new", Work("games"))
    assert not (tmp_path / "new").exists()


def test_the_shards_of_another_job_are_not_touched(tmp_path: Path) -> None:
    run_shards(Counting(), draw, {"seed": 1}, 2, tmp_path, Work("x"))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for shard, job in ((draw, {"seed": 2}), (refuses, {"seed": 1})):
        with pytest.raises(RaccoonError, match=r"holds shards of another job, or of another version; resume=false"):
            run_shards(Counting(), shard, job, 2, tmp_path, Work("x"))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_killed_in_the_middle_continues(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, sys
        sys.path.insert(0, {str(HERE)!r})
        from pathlib import Path
        import test_executor as t
        from raccoon.executor import Work, run_shards
        def draw(job, index):
            if index == 2:
                os.kill(os.getpid(), 9)
            return t.draw(job, index)
        draw.__module__, draw.__qualname__ = t.__name__, "draw"
        from raccoon.executor import ProcessExecutor
        run_shards(ProcessExecutor(0, progress=False), draw, {{"seed": 1}}, 4, Path({str(tmp_path)!r}), Work("x"))
    """)
    killed = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    mark = (tmp_path / "job.json").read_text()
    (tmp_path / "job.json").write_text(mark.replace('"test_executor.draw"', f'"{draw.__module__}.draw"'))
    again = Counting()
    found = run_shards(again, draw, {"seed": 1}, 4, tmp_path, Work("x"))
    assert again.asked == [3, 2]
    assert [int(r["index"]) for r in found] == [0, 1, 2, 3]


def test_fingerprints_follow_the_job() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})
    assert len(fingerprint({})) == 16


def test_a_replaced_checkpoint_makes_another_job(tmp_path: Path) -> None:
    net = tmp_path / "net.pt"
    net.write_bytes(b"first")
    job = {"player": {"engine": {"path": str(net)}}, "seed": 1}
    before = fingerprint(job)
    assert fingerprint(job) == before
    net.write_bytes(b"second")
    assert fingerprint(job) != before


def test_workers_below_zero_are_refused() -> None:
    with pytest.raises(RaccoonError, match=r"executor\.workers=-1"):
        ProcessExecutor(-1)


_LEADER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_executor import waits
from raccoon.executor import ProcessExecutor, Work

if __name__ == "__main__":
    list(ProcessExecutor(1, progress=False).map(waits, {}, [0], Work("test")))
"""


def waits(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    print(os.getpid(), flush=True)
    time.sleep(60)
    return {}


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "leader.py"
    script.write_text(_LEADER)
    with subprocess.Popen([sys.executable, str(script), str(HERE)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as leader:
        assert leader.stdout is not None
        worker = int(leader.stdout.readline())
        leader.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{worker}").exists()


def test_kept_workers_are_the_same_processes_and_are_replaced_when_one_dies(tmp_path: Path) -> None:
    workers = ProcessExecutor(0).open(1)
    try:
        first, second = (workers.start(threads, {}, [0]) for _ in range(2))
        pids = {result["pid"] for lot in (second, first) for _, result in lot}
        assert len(pids) == 1
        lots = [workers.start(dies_once, {"folder": str(tmp_path), "dies": [1]}, [0, 1]), workers.start(threads, {}, [7])]
        assert dict(lots[0]) == {0: {"index": 0}, 1: {"index": 1}}
        assert [index for index, _ in lots[1]] == [7]
        (after,) = [result["pid"] for _, result in workers.start(threads, {}, [0])]
        assert after not in pids
    finally:
        workers.close()

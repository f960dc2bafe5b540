"""``executor=ray``: the rows of ``executor=processes``, whatever dies. One Ray of two CPUs serves the file; it takes seconds to start."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.executor import ProcessExecutor, RayExecutor, Work, run_shards
from raccoon.executor.ray import RayWorkers
from raccoon.rng import generator
from raccoon.testing import check_executor

ROOT = Path(__file__).parents[2]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the package ray is not installed: pip install 'raccoon[ray]'"
)


def draw(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    flag = Path(job["folder"]) / f"died-{index}"
    if index in job["dies"] and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"x": generator(job["seed"], "test", index).normal(size=4), "index": index, "threads": os.environ["NUMBA_NUM_THREADS"]}


def always_dies(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def waits(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    (Path(job["folder"]) / "pid").write_text(str(os.getpid()))
    time.sleep(60)
    return {}


@pytest.fixture(scope="module")
def ray_of_two() -> Iterator[RayExecutor]:
    yield RayExecutor(workers=2, progress=False)
    import ray  # pyright: ignore[reportMissingImports]

    ray.shutdown()


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RaccoonError, match=r"ray is not installed; pip install 'raccoon\[ray\]'"):
        RayExecutor()


@pytest.mark.parametrize(("key", "value"), [("workers", -1), ("max_retries", -1), ("max_retries", 1.5)])
def test_bad_settings_are_named(key: str, value: Any) -> None:
    with pytest.raises(RaccoonError, match=rf"executor\.{key}={value}"):
        RayExecutor(**{key: value})


def test_a_ray_that_names_no_cpus_has_none() -> None:
    workers = object.__new__(RayWorkers)
    workers.ray = SimpleNamespace(cluster_resources=dict)
    with pytest.raises(RaccoonError, match=r"executor\.workers=1: this Ray has 0 CPUs"):
        workers._hold(1)


@needs_ray
@pytest.mark.slow
def test_contract(ray_of_two: RayExecutor, tmp_path: Path) -> None:
    check_executor(ray_of_two, tmp_path)


@needs_ray
@pytest.mark.slow
def test_the_rows_of_processes_though_a_worker_is_killed(ray_of_two: RayExecutor, tmp_path: Path) -> None:
    job = {"seed": 3, "folder": str(tmp_path), "dies": [1, 4]}
    killed = run_shards(ray_of_two, draw, job, 6, tmp_path / "ray", Work("draw"))
    assert sorted(path.name for path in tmp_path.glob("died-*")) == ["died-1", "died-4"]
    unharmed = run_shards(ProcessExecutor(2, progress=False), draw, job, 6, tmp_path / "processes", Work("draw"))
    for a, b in zip(killed, unharmed, strict=True):
        assert np.array_equal(a["x"], b["x"])
        assert a["index"] == b["index"]
        assert str(a["threads"]) == str(b["threads"]) == "1"


@needs_ray
@pytest.mark.slow
def test_shards_that_keep_killing_their_worker_are_reported(ray_of_two: RayExecutor) -> None:
    with pytest.raises(RaccoonError, match=r"shard 0: its worker died 3 times.*executor\.workers=0"):
        list(ray_of_two.map(always_dies, {}, [0], Work("dies")))


@needs_ray
@pytest.mark.slow
def test_more_workers_than_cpus_are_refused(ray_of_two: RayExecutor) -> None:
    address_of(ray_of_two)
    with pytest.raises(RaccoonError, match=r"executor\.workers=1000: this Ray has \d+ CPUs"):
        RayExecutor(workers=1000).open()


@needs_ray
@pytest.mark.slow
def test_shards_of_a_caller_that_stops_are_given_up(ray_of_two: RayExecutor, tmp_path: Path) -> None:
    workers = ray_of_two.open()
    workers.start(waits, {"folder": str(tmp_path)}, [0])
    pid = int(awaited(tmp_path / "pid"))
    workers.close()
    assert gone(pid)


_LEADER = """
import os, pathlib, sys, time
from raccoon.executor import RayExecutor, Work

def waits(job, index):
    pathlib.Path(job["folder"], "pid").write_text(str(os.getpid()))
    time.sleep(60)
    return {}

list(RayExecutor(sys.argv[2] or None, workers=1, progress=False).map(waits, {"folder": sys.argv[1]}, [0], Work("test")))
"""


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize(("number", "cluster"), [(signal.SIGINT, False), (signal.SIGKILL, True)])
def test_nothing_runs_on_when_the_program_ends(
    ray_of_two: RayExecutor, tmp_path: Path, heeds_ctrl_c: Callable[[], None], number: signal.Signals, cluster: bool
) -> None:
    """With a Ray of its own, and on a cluster, which lives on."""
    script = tmp_path / "leader.py"
    script.write_text(_LEADER)
    command = [sys.executable, str(script), str(tmp_path), address_of(ray_of_two) if cluster else ""]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, preexec_fn=heeds_ctrl_c) as leader:
        pid = int(awaited(tmp_path / "pid"))
        leader.send_signal(number)
    assert gone(pid)


@needs_ray
@pytest.mark.slow
def test_command_lines(ray_of_two: RayExecutor, tmp_path: Path) -> None:
    """Labels and an arena through the programs, on a cluster and by processes."""
    from raccoon.data.label_sets.store import PositionStore

    stores, figures = [], []
    for name in ("ray", "processes"):
        executor = [f"executor={name}", "executor.workers=2", "executor.progress=false"]
        executor += [f"executor.address='{address_of(ray_of_two)}'"] if name == "ray" else []
        small = ["data.source.games=8", "data.source.shard_games=4"]
        program = ["-m", "raccoon.cli.generate", "data=gnubg0", *small, f"folder={tmp_path / name}"]
        subprocess.run([sys.executable, *program, *executor], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        stores.append(PositionStore.open(tmp_path / name))
        run = tmp_path / f"arena-{name}"
        sides = [
            "player=random",
            "opponent=random",
            "evaluator=arena",
            "evaluator.games=8",
            "evaluator.shard_games=4",
            f"paths.run_dir={run}",
        ]
        subprocess.run([sys.executable, "evaluate.py", *sides, *executor], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        figures.append(json.loads((run / "report.json").read_text())["figures"])
    assert len(stores[0]) > 100
    assert np.array_equal(*(store.rows(np.arange(len(store))) for store in stores))
    assert {key: value for key, value in figures[0].items() if "_per_s" not in key} == {
        key: value for key, value in figures[1].items() if "_per_s" not in key
    }


def address_of(executor: RayExecutor) -> str:
    """Of the Ray that ``executor`` has started: a cluster for other programs."""
    list(executor.map(draw, {"seed": 1, "folder": "", "dies": []}, [0], Work("connects")))
    import ray  # pyright: ignore[reportMissingImports]

    return ray.get_runtime_context().gcs_address


def awaited(path: Path) -> str:
    deadline = time.monotonic() + 150
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return path.read_text()


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not Path(f"/proc/{pid}").exists()

"""Label generation: the labels, what is recorded, resuming after a kill, full disks, growth."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.config.instantiate import build
from raccoon.contracts import RaccoonError
from raccoon.data.label_sets import store as stores
from raccoon.data.label_sets.generate import SelfPlayLabels, generate
from raccoon.data.label_sets.relabel import relabel
from raccoon.data.label_sets.rows import SELFPLAY, SIBLING, unpack5
from raccoon.data.label_sets.store import PositionStore
from raccoon.data.label_sets.writer import fill, prepare
from raccoon.data.selfplay.recorder import PositionRecorder
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import terminal_points
from raccoon.env.position_ids import position_keys
from raccoon.executor import ProcessExecutor
from raccoon.play.match import play_games

Labels = Callable[..., SelfPlayLabels]
GNUBG = {"_target_": "raccoon.engine.GnubgEngine", "ply": 0}


def everything(store: PositionStore) -> np.ndarray:
    return store.rows(np.arange(len(store)))


def test_labels_are_the_teachers(small: PositionStore) -> None:
    boards, probs5 = small.gather(np.arange(len(small)))
    assert (terminal_points(boards) == 0).all()
    assert np.abs(probs5 - GnubgEngine(0).probs5(boards)).max() < 1e-4  # six from five clips the teacher's own inconsistencies


def test_rows_are_distinct_within_a_shard_and_sorted_by_game(small: PositionStore) -> None:
    for i in range(len(small.indices)):
        rows = small.shard(i)
        assert len(np.unique(rows["key"], axis=0)) == len(rows)
        assert (np.diff(rows["game"].astype(np.int64)) >= 0).all()
        assert set(np.unique(rows["game"])) <= set(range(4 * i, 4 * i + 4))


def test_siblings_are_as_many_as_asked_for(labels: Labels, small: PositionStore, inline: ProcessExecutor, tmp_path: Path) -> None:
    share = (everything(small)["provenance"] == SIBLING).mean()
    assert 0.35 < share < 0.5  # turns with one play have none
    none = everything(generate(labels(sibling_share=0.0, games=4), tmp_path / "none", inline))
    assert (none["provenance"] == SELFPLAY).all()
    many = everything(generate(labels(sibling_share=0.75, games=4), tmp_path / "many", inline))
    assert 0.55 < (many["provenance"] == SIBLING).mean() < 0.75
    played = {bytes(key) for key in none["key"]}
    assert played <= {bytes(key) for key in many["key"]}


def test_exploring_changes_the_games(labels: Labels, small: PositionStore, inline: ProcessExecutor, tmp_path: Path) -> None:
    stray = generate(labels(explore=0.3, games=4), tmp_path / "set", inline)
    again = generate(labels(explore=0.3, games=4), tmp_path / "again", inline)
    assert (everything(stray) == everything(again)).all()
    assert stray.fingerprint != small.fingerprint
    assert len(everything(stray)) != len(small.shard(0)) or (everything(stray) != small.shard(0)).any()


def test_rows_depend_on_neither_batch_nor_workers(labels: Labels, small: PositionStore, tmp_path: Path) -> None:
    two = generate(labels(concurrent=3), tmp_path / "set", ProcessExecutor(workers=2, progress=False))
    assert two.fingerprint == small.fingerprint
    assert (everything(two) == everything(small)).all()


class Stops(ProcessExecutor):
    """Runs ``left`` shards, then fails as a full disk, a lost network or Ctrl-C would."""

    def __init__(self, left: int, error: BaseException) -> None:
        super().__init__(workers=0, progress=False)
        self.left, self.error = left, error

    def map(self, *arguments: Any, **knobs: Any) -> Iterator[tuple[int, dict[str, Any]]]:
        for n, result in enumerate(super().map(*arguments, **knobs)):
            if n == self.left:
                raise self.error
            yield result


def test_an_interrupted_run_goes_on_and_gives_the_same_rows(
    labels: Labels, small: PositionStore, inline: ProcessExecutor, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    with pytest.raises(KeyboardInterrupt):
        generate(labels(), folder, Stops(2, KeyboardInterrupt()))
    with pytest.raises(RaccoonError, match="incomplete"):
        PositionStore.open(folder)
    before = (folder / "shard-000000.npy").stat().st_mtime_ns
    done = generate(labels(), folder, Stops(1, RuntimeError("a second shard was run")))
    assert (folder / "shard-000000.npy").stat().st_mtime_ns == before
    assert (everything(done) == everything(small)).all()


_KILLED = """
import json, sys, time
from raccoon.data import generate, writer
from raccoon.executor import ProcessExecutor
from raccoon.play.match import play_games
whole = writer._write_shard
def slow(*a):
    entry = whole(*a)
    print("shard", flush=True)
    time.sleep(0.3)
    return entry
writer._write_shard = slow
generate.generate(json.loads(sys.argv[2]), sys.argv[1], ProcessExecutor(0, progress=False))
"""


def test_kill_9_and_the_same_command_again(
    labels: Labels, knobs: dict[str, Any], small: PositionStore, inline: ProcessExecutor, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    with subprocess.Popen([sys.executable, "-c", _KILLED, str(folder), json.dumps(knobs)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "shard\n"
        run.send_signal(signal.SIGKILL)
    assert 1 <= len(list(folder.glob("shard-*.npy"))) < 3
    assert (everything(generate(labels(), folder, inline)) == everything(small)).all()


def test_a_full_disk_is_an_error_and_loses_nothing(
    labels: Labels, small: PositionStore, inline: ProcessExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    real, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RaccoonError, match="No space left on device"):
        generate(labels(), folder, inline)
    monkeypatch.undo()
    assert not list(folder.glob(".*.tmp"))
    assert (folder / "shard-000000.npy").exists()
    assert (everything(generate(labels(), folder, inline)) == everything(small)).all()


def test_a_set_grows_and_a_smaller_run_reads_its_part(labels: Labels, inline: ProcessExecutor, tmp_path: Path) -> None:
    first = prepare(labels(games=4), tmp_path, inline)
    more = prepare(labels(games=8), tmp_path, inline)
    assert more.folder == first.folder
    assert len(more.indices) == 2
    again = prepare(labels(games=4), tmp_path, Stops(0, RuntimeError("ran again")))
    assert (everything(again) == more.shard(0)).all()


def test_a_missing_shard_is_made_again_and_a_broken_one_is_named(labels: Labels, inline: ProcessExecutor, tmp_path: Path) -> None:
    store = prepare(labels(games=8), tmp_path, inline)
    rows = everything(store)
    (store.folder / "shard-000001.npy").unlink()
    assert (everything(prepare(labels(games=8), tmp_path, inline)) == rows).all()
    (store.folder / "shard-000001.npy").write_bytes(b"mine")
    for run in (lambda: prepare(labels(games=8), tmp_path, inline), lambda: generate(labels(games=8), store.folder, inline)):
        with pytest.raises(RaccoonError, match=r"shard-000001.npy"):
            run()
    assert (store.folder / "shard-000001.npy").read_bytes() == b"mine"


def test_a_folder_with_another_set_is_refused(labels: Labels, small: PositionStore, inline: ProcessExecutor, tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match="holds another set"):
        generate(labels(seed=2), small.folder, inline)
    (tmp_path / "shard-000000.npy").write_bytes(b"mine")
    with pytest.raises(RaccoonError, match=r"no meta.json"):
        generate(labels(), tmp_path, inline)
    assert stores.read_meta(small.folder)["fingerprint"] == small.fingerprint


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"games": 0}, "games"),
        ({"shard_games": -1}, "shard_games"),
        ({"sibling_share": 0.9}, "sibling_share"),
        ({"explore": 2}, "explore"),
        ({"seed": -1}, "seed"),
        ({"teacher": {}}, "teacher"),
    ],
)
def test_bad_knobs_are_named(labels: Labels, changed: dict[str, Any], key: str) -> None:
    with pytest.raises(RaccoonError, match=key):
        labels(**changed).plan()


def test_names_and_nulls_do_not_make_another_set(labels: Labels, small: PositionStore) -> None:
    named = {**GNUBG, "name": "Tutor", "cache": None}
    assert labels(teacher=named, name="other", games=99).plan().fingerprint == small.fingerprint
    assert labels(teacher={**GNUBG, "ply": 1}).plan().fingerprint != small.fingerprint


def test_a_teacher_without_the_outcome_distribution_is_refused(labels: Labels, inline: ProcessExecutor, tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match="outcome distribution"):
        generate(labels(teacher={"_target_": "raccoon.engine.RandomEngine"}, games=4), tmp_path / "set", inline)


def test_relabelling_keeps_the_positions_and_their_games(small: PositionStore, inline: ProcessExecutor, tmp_path: Path) -> None:
    copy = relabel(small.folder, tmp_path / "same", GNUBG, inline)
    assert (everything(copy) == everything(small)).all()
    assert copy.fingerprint != small.fingerprint


def test_relabelling_by_a_deeper_teacher_resumes(small: PositionStore, inline: ProcessExecutor, tmp_path: Path) -> None:
    teacher = {**GNUBG, "ply": 1, "package": "pruned"}
    with pytest.raises(KeyboardInterrupt):
        relabel(small.folder, tmp_path / "deep", teacher, Stops(10, KeyboardInterrupt()))  # the parts of a shard
    deep = relabel(small.folder, tmp_path / "deep", teacher, Stops(20, RuntimeError("a third shard was run")))
    assert (everything(deep)["key"] == everything(small)["key"]).all()
    pick = np.arange(0, len(deep), 40)
    boards, probs5 = deep.gather(pick)
    assert (position_keys(boards) == everything(small)["key"][pick]).all()
    assert np.abs(probs5 - GnubgEngine(1, "pruned").probs5(boards)).max() < 1e-4
    assert np.abs(probs5 - small.gather(pick)[1]).max() > 1e-3


def test_a_shard_is_made_in_parts_for_many_workers_and_is_the_same_as_if_made_at_once(labels: Labels, inline: ProcessExecutor) -> None:
    plan = labels(games=30, shard_games=30, sibling_share=0.2).plan()
    assert plan.part is not None
    assert plan.parts == 2
    made = plan.join([plan.part(plan.job, task)["rows"] for task in range(2)])
    assert (made == plan.shard(plan.job, 0)["rows"]).all()
    player, recorder = build(plan.job["player"]), PositionRecorder(0.25, plan.job["seed"])
    play_games((player, player), np.arange(30), plan.job["seed"], observers=[recorder])
    found = recorder.collect()
    assert (unpack5(made)[0] == found.boards).all()
    assert (made["game"] == found.game).all()


def test_a_writer_at_work_is_refused(labels: Labels, small: PositionStore, inline: ProcessExecutor, tmp_path: Path) -> None:
    class Nosy(ProcessExecutor):
        def map(self, *arguments: Any, **knobs: Any) -> Iterator[tuple[int, dict[str, Any]]]:
            with pytest.raises(RaccoonError, match=f"written by process {os.getpid()}"):
                fill(labels().plan(), tmp_path / "set", inline)
            return super().map(*arguments, **knobs)

    assert len(generate(labels(games=4), tmp_path / "set", Nosy(0, progress=False))) > 0


@pytest.mark.parametrize("name", ["../x", "a/b", "", "/x"])
def test_the_name_of_a_set_is_no_path(tmp_path: Path, name: str) -> None:
    source = SelfPlayLabels({"_target_": "x.Y"}, {"_target_": "x.Y"}, name=name)
    with pytest.raises(RaccoonError, match=r"data\.source\.name"):
        prepare(source, tmp_path / "data", ProcessExecutor(0, progress=False))
    assert not any(tmp_path.iterdir())


def test_games_without_end_are_refused_at_once(labels: Labels) -> None:
    with pytest.raises(RaccoonError, match=r"data\.source\.games=1000000000000: \d+,000,000 is the most"):
        labels(games=10**12).plan()

"""Run folders: unique, locked, never overwritten, continued after a kill."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from raccoon.cli.program import output
from raccoon.contracts import RaccoonError
from raccoon.files import locks, read_write
from raccoon.runs import places
from raccoon.runs.folder import Run, open_run


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    places._launches.clear()
    yield
    places._launches.clear()


def config(**kwargs: Any) -> DictConfig:
    base = {
        "seed": 1, "resume": True, "paths": {"run_dir": "${raccoon.run_dir:train}", "data_dir": "data"},
        "executor": {"workers": 2}, "data": {"executor": "${executor}"}, "logger": {"csv": {"save_dir": "${paths.run_dir}"}},
    }  # fmt: skip
    return OmegaConf.merge(OmegaConf.create(base), OmegaConf.create(kwargs))  # type: ignore[return-value]


def at(folder: str, **kwargs: Any) -> DictConfig:
    return config(paths={"run_dir": folder}, **kwargs)


def status(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "status.json").read_text())


def fail(cfg: DictConfig, error: BaseException | None = None) -> Path:
    """A run that stops before its end; returns its folder."""
    folder = Path()

    def stopped() -> None:
        nonlocal folder
        with open_run(cfg, "train") as run:
            folder = run.dir
            (folder / "made").write_text("work that is kept")
            raise error or KeyboardInterrupt

    with pytest.raises(type(error) if error else KeyboardInterrupt):
        stopped()
    places._launches.clear()
    return folder


def complete(cfg: DictConfig) -> Run:
    with open_run(cfg, "train") as run:
        pass
    places._launches.clear()
    return run


def test_a_run_has_a_folder_of_its_own_that_says_everything() -> None:
    with open_run(config(), "train") as run:
        assert status(run.dir)["state"] == "running"
        assert status(run.dir)["pid"] == os.getpid()
        logging.getLogger("raccoon.test").warning("a line of the log")
    assert run.dir.parts[:2] == ("runs", "train")
    assert len(run.dir.parts) == 4
    assert run.config["paths"]["run_dir"] == str(run.dir)
    assert run.config["logger"]["csv"]["save_dir"] == str(run.dir)
    assert "a line of the log" in (run.dir / "run.log").read_text()
    assert status(run.dir)["state"] == "done"
    logging.getLogger("raccoon.test").warning("after the end")
    assert "after the end" not in (run.dir / "run.log").read_text()


def test_default_folders_differ_within_a_second() -> None:
    folders = {complete(config()).dir for _ in range(5)}
    assert len(folders) == 5


def test_the_config_file_is_resolved_but_for_the_run_folder() -> None:
    run = complete(config())
    saved = OmegaConf.load(run.dir / "config.yaml")
    assert isinstance(saved, DictConfig)
    assert saved.data.executor.workers == 2
    raw = OmegaConf.to_container(saved, resolve=False)
    assert isinstance(raw, dict)
    assert raw["paths"]["run_dir"] == "${raccoon.run_dir:train}"
    assert raw["logger"]["csv"]["save_dir"] == "${paths.run_dir}"
    assert str(run.dir) not in (run.dir / "config.yaml").read_text()


def test_a_failed_run_says_why_and_is_continued_by_the_same_command(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    folder = fail(config(), RaccoonError("trainer.lr=0: give more"))
    assert status(folder)["state"] == "failed"
    assert "trainer.lr=0" in status(folder)["error"]
    assert "trainer.lr=0" in (folder / "run.log").read_text()
    started = status(folder)["started"]
    again = complete(config())
    assert (again.dir, again.resumed) == (folder, True)
    assert status(folder)["state"] == "done"
    assert status(folder)["started"] == started
    assert "continuing the unfinished run" in (folder / "run.log").read_text()
    assert not complete(config()).resumed


def test_workers_and_loggers_do_not_make_another_run_but_everything_else_does() -> None:
    folder = fail(config())
    assert complete(config(seed=2)).dir != folder
    assert complete(config(extra=1)).dir != folder
    assert complete(config(resume=False)).dir != folder
    again = complete(config(executor={"workers": 0}, logger={"wandb": {"name": "x"}}))
    assert (again.dir, again.resumed) == (folder, True)


def test_the_newest_of_several_unfinished_runs_is_continued() -> None:
    first = fail(config())
    second = fail(config(resume=False))
    os.utime(first / "status.json", (1, 1))
    assert first != second
    assert complete(config()).dir == second
    assert complete(config()).dir == first
    assert not complete(config()).resumed


def test_another_kind_of_run_is_not_continued() -> None:
    folder = fail(config())
    with open_run(config(paths={"run_dir": "${raccoon.run_dir:evaluate}"}), "evaluate") as run:
        assert run.dir != folder
        assert run.dir.parts[1] == "evaluate"


def test_a_finished_run_is_never_overwritten() -> None:
    run = complete(at("mine"))
    before = {path.name: path.read_bytes() for path in run.dir.iterdir()}
    for cfg in (at("mine"), at("mine", seed=2), at("mine", resume=False)):
        with pytest.raises(RaccoonError, match=r"mine: holds a finished run; name another folder \(paths\.run_dir="):
            complete(cfg)
    assert {path.name: path.read_bytes() for path in run.dir.iterdir()} == before
    (run.dir / "status.json").unlink()
    (run.dir / "report.json").write_text("{}")
    with pytest.raises(RaccoonError, match="holds a finished run"):
        complete(at("mine"))


def test_a_named_folder_with_an_unfinished_run() -> None:
    fail(at("mine"))
    with pytest.raises(RaccoonError, match="mine: holds an unfinished run of another config"):
        complete(at("mine", seed=2))
    with pytest.raises(RaccoonError, match="mine: holds an unfinished run; resume=true continues it"):
        complete(at("mine", resume=False))
    assert complete(at("mine")).resumed


def test_a_folder_of_other_files_is_refused() -> None:
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("x")
    with pytest.raises(RaccoonError, match="mine: holds files that no run wrote"):
        complete(at("mine"))
    Path("file").write_text("x")
    with pytest.raises(RaccoonError, match=r"file: cannot be made a folder .*paths\.run_dir"):
        complete(at("file"))


@pytest.mark.parametrize(("content", "message"), [("{", "not readable"), ("[]", "is no status of a run")])
def test_a_broken_status_file_is_named(content: str, message: str) -> None:
    folder = fail(at("mine"))
    (folder / "status.json").write_text(content)
    with pytest.raises(RaccoonError, match=rf"mine/status\.json: {message}"):
        complete(at("mine"))
    folder = fail(config())
    (folder / "status.json").write_text(content)
    assert not complete(config()).resumed  # in the default place it is passed over


SCRIPT = textwrap.dedent("""
    import sys
    from omegaconf import OmegaConf
    from raccoon.runs.folder import open_run
    with open_run(OmegaConf.create(sys.argv[1]), "train") as run:
        print(run.dir, flush=True)
        sys.stdin.read()
""")


def start(cfg: DictConfig) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, OmegaConf.to_yaml(cfg)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_folder_in_use_is_refused_by_name_and_continued_after_a_kill() -> None:
    process, folder = start(config())
    try:
        with pytest.raises(RaccoonError, match=rf"in use by process {process.pid} on "):
            complete(at(str(folder)))
        assert not complete(config()).resumed  # the living one is left alone
    finally:
        stop(process)
    assert status(folder)["state"] == "running"
    again = complete(config())
    assert (again.dir, again.resumed) == (folder, True)


def test_temporary_files_of_killed_runs_go_and_make_no_folder_foreign(tmp_path: Path) -> None:
    left = f".status.json.{2**22 + 1}@{read_write._host()}.tmp"  # beyond the highest process number
    folder = fail(at("mine"))
    (folder / "final").mkdir()
    for place in (folder, folder / "final"):
        (place / left).touch()
    assert complete(at("mine")).resumed
    assert not [*folder.rglob("*.tmp")]
    Path("fresh").mkdir()
    Path("fresh", left).touch()  # killed before the first file was there
    assert not complete(at("fresh")).resumed
    assert not [*Path("fresh").rglob("*.tmp")]


def test_other_ranks_join_the_folder_of_rank_0(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run(config(), "train") as first:
        before = sorted(first.dir.iterdir())
        monkeypatch.setenv("LOCAL_RANK", "1")
        places._launches.clear()  # another process has its own launch name
        with open_run(config(), "train") as second:
            assert second.dir == first.dir
            assert second.resumed  # where rank 0 goes on from a checkpoint, so do the others
            assert second.config["paths"]["run_dir"] == str(first.dir)
        monkeypatch.delenv("LOCAL_RANK")
        assert sorted(first.dir.iterdir()) == before
        assert status(first.dir)["state"] == "running"
    assert "RACCOON_RUN_DIR" not in os.environ


def test_a_missing_value_is_named() -> None:
    from omegaconf.errors import MissingMandatoryValue

    with pytest.raises(MissingMandatoryValue, match=r"data\.folder"):
        complete(config(data={"folder": "???"}))


@pytest.mark.parametrize("seed", [None, "abc", True, 1.5, -1, 2**63, [1]], ids=str)
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(RaccoonError, match=r"^seed="), open_run(config(seed=seed), "train"):
        pytest.fail("opened")
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("resume", {"resume": "no"}),
        ("paths.run_dir", {"paths": {"run_dir": None}}),
        ("paths.run_dir", {"paths": {"run_dir": 5}}),
        ("paths.run_dir", {"paths": {"run_dir": ""}}),
        ("paths.data_dir", {"paths": {"data_dir": None}}),
        ("init", {"init": ["a.pt"]}),
        ("folder", {"folder": 5}),
    ],
)
def test_values_of_the_root_that_would_be_misread_are_refused(key: str, values: dict[str, Any]) -> None:
    with pytest.raises(RaccoonError, match=f"^{key}="), open_run(config(**values), "train"):
        pytest.fail("opened")
    assert not any(Path().iterdir())


def test_folders_of_runs_that_were_killed_at_their_start_go_and_those_at_work_stay() -> None:
    left = [Path("runs/train/2026-01-01", name) for name in ("01-00-00-0000", "02-00-00-0000")]
    busy, foreign = Path("runs/train/2026-01-02/01-00-00-0000"), Path("runs/train/2026-01-02/mine")
    for folder in (*left, busy, foreign):
        folder.mkdir(parents=True)
    (left[0] / locks.NAME).touch()
    (left[1] / f".status.json.{2**22 + 1}@{read_write._host()}.tmp").touch()
    (foreign / "notes.txt").touch()
    with locks.writing(busy):
        run = complete(config())
        assert {path.parent for path in Path("runs").glob("*/*/*/*")} == {busy, foreign, run.dir}
    assert not left[0].parent.exists()


def test_a_run_that_was_killed_after_its_report_is_done_and_not_run_again() -> None:
    for cfg in (config(), at("mine")):
        folder = fail(cfg)
        (folder / "report.json").write_text("{}")
        with open_run(cfg, "train") as run:
            assert (run.dir, run.resumed, run.reported) == (folder, True, True)
        assert status(folder)["state"] == "done"
    places._launches.clear()
    assert not complete(config()).reported


def test_a_disk_that_is_full_at_the_start_leaves_nothing_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(RaccoonError, match=r"mine/status\.json: cannot be written"), open_run(at("mine"), "train"):
            pass
    with open_run(at("mine"), "train") as run:
        assert not run.resumed
    assert status(Path("mine"))["state"] == "done"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_log_that_a_full_disk_does_not_take_ends_no_run(capfd: pytest.CaptureFixture[str]) -> None:
    with output.guarded(keeps=True), open_run(at("mine"), "train"):
        (handler,) = [handler for handler in logging.getLogger().handlers if getattr(handler, "baseFilename", "").endswith("run.log")]
        handler.close()
        handler.baseFilename = "/dev/full"  # type: ignore[attr-defined]
        logging.getLogger().warning("lost")
    assert status(Path("mine"))["state"] == "done"
    assert capfd.readouterr().err == ""


def test_keys_that_came_later_leave_an_unfinished_run_where_it_was_unless_they_say_something() -> None:
    folder = fail(at("there"))
    assert fail(at("there", stages=None, data={"minutes": None})) == folder
    with pytest.raises(RaccoonError), open_run(at("there", data={"minutes": 3}), "train"):
        pass
    folder = fail(at("where", runtime={"devices": 1}))
    for tflops in (None, 100.0):  # it tells of the time, and changes no result
        assert fail(at("where", runtime={"devices": 1, "tflops": tflops})) == folder

"""Sweeps as they run: one folder that the same command continues, jobs that fail alone, a line each and a table at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli import dashboard as dashboard_cli
from raccoon.cli.program import app
from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.dashboard.records import read_runs
from raccoon.eval.sweep.by_pr import collect
from raccoon.report import report_files
from raccoon.runs.folder import Run
from raccoon.runs.sweeps import read_jobs, told

ROOT = Path(__file__).parents[2]


class Jobs:
    """A program whose jobs are told apart by their seed; ``ran``: those that did, with their folders and arguments."""

    def __init__(self, program: Callable[..., Any]) -> None:
        self.program = program
        self.ran: list[int] = []
        self.folders: list[Path] = []
        self.arguments: list[list[str]] = []
        self.act: dict[int, BaseException] = {}

    def __call__(self, *overrides: str) -> Any:
        self.ran, self.folders, self.arguments = [], [], []
        return self.program(partial(app.main, "evaluate", self._job), *overrides)

    def _job(self, config: dict[str, Any], run: Run) -> None:
        self.ran.append(config["seed"])
        self.folders.append(run.dir)
        self.arguments.append(sys.argv[1:])
        os.environ["LEFT_BY_A_JOB"] = "1"
        print("a table of many lines\nof a job")
        if config["seed"] in self.act:
            raise self.act[config["seed"]]
        result = Report("test", "player", None, config["seed"], 1.0, {"pr": Figure(1.0 + config["seed"], 1.0, 9.0, 50)})
        result.figures |= {"seconds_per_decision": Figure(0.1), "evaluations_per_decision": Figure(2.0)}
        report_files.write(result, run.dir)
        losses = {"keys": np.arange(4), "games": np.arange(4), "player.loss": np.full(4, 0.1 * config["seed"])}
        np.savez(run.dir / "decisions.npz", **losses)  # type: ignore[arg-type]


@pytest.fixture
def jobs(program: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jobs:
    monkeypatch.chdir(tmp_path)
    return Jobs(program)


def sweeps() -> list[Path]:
    return sorted(Path("runs/multirun/evaluate").glob("*/*"))


def test_the_same_command_continues_the_sweep_and_runs_only_what_is_not_done(jobs: Jobs) -> None:
    jobs.act[3] = KeyboardInterrupt()
    stopped = jobs("-m", "seed=1,3,4")
    assert (stopped.returncode, jobs.ran) == (130, [1, 3])
    (sweep,) = sweeps()
    assert stopped.stderr.strip() == f"interrupted: {sweep} keeps what is done; the same command continues it"
    assert [job.state for job in read_jobs(sweep)] == ["done", "interrupted", "missing"]
    assert told(read_jobs(sweep)) == "2 of 3 jobs are not done: job 1 (seed=3) interrupted, job 2 (seed=4) missing"
    jobs.act.clear()
    before = (sweep / "0" / "report.json").stat().st_mtime_ns
    again = jobs("-m", "seed=1,3,4", "executor.workers=0")
    assert (again.returncode, jobs.ran) == (0, [3, 4])
    assert sweeps() == [sweep]
    assert (sweep / "0" / "report.json").stat().st_mtime_ns == before
    assert "job 0  seed=1  done already, pr 2 [1, 9]\n" in again.stdout
    assert "job 1  seed=3  done, pr 4 [1, 9] (" in again.stdout
    done = jobs("-m", "seed=1,3,4")
    assert (done.returncode, jobs.ran, sweeps()) == (0, [], [sweep])
    assert "3 jobs, 3 of them done (resume=false starts a new sweep)" in done.stdout
    anew = jobs("-m", "seed=1,3,4", "resume=false")
    assert jobs.ran == [1, 3, 4], anew.stdout + anew.stderr
    assert len(sweeps()) == 2


def test_a_job_never_touches_another_sweep_and_a_run_never_one_of_a_sweep(jobs: Jobs) -> None:
    jobs.act = {2: KeyboardInterrupt()}
    jobs("-m", "seed=1,2")
    (first,) = sweeps()
    before = (first / "1" / "status.json").read_bytes()
    jobs.act.clear()
    jobs("-m", "seed=2,5")  # its first job is the config of the unfinished one
    assert first not in {folder.parent for folder in jobs.folders}
    jobs("seed=2")
    assert jobs.folders[0].parts[:2] == ("runs", "evaluate")
    jobs("-m", "seed=1,2", "evaluator.games=11")
    assert jobs.ran == [1, 2]
    assert (first / "1" / "status.json").read_bytes() == before


def test_jobs_that_fail_lose_no_others_and_are_named_at_the_end(jobs: Jobs) -> None:
    jobs.act = {1: RaccoonError("seed=1: refused"), 3: KeyError("a fault of the program")}
    done = jobs("-m", "seed=1,2,3,-4,5")
    assert done.returncode == 2
    assert jobs.ran == [1, 2, 3, 5]
    lines = done.stdout.splitlines()
    (sweep,) = sweeps()
    assert lines[0] == f"sweep: {sweep}, 5 jobs; each has its log in its run.log"
    assert [line.split("  ", 1)[1].split(" (")[0] for line in lines[1:6]] == [
        "seed=1  failed: seed=1: refused",
        "seed=2  done, pr 3 [1, 9]",
        "seed=3  failed: KeyError: 'a fault of the program'",
        "seed=-4  failed: seed=-4: give a whole number from 0 to 2**63 - 1",
        "seed=5  done, pr 6 [1, 9]",
    ]
    assert lines[-3].startswith("3 of 5 jobs are not done: job 0 (seed=1) failed: seed=1: refused, job 2 (seed=3) failed: ")
    assert "job 3 (seed=-4) failed: seed=-4: give a whole number" in lines[-3]
    assert lines[-2] == f"compare: python -m raccoon.cli.collect {sweep}"
    assert lines[6].startswith("┏")
    assert "a table of many lines" not in done.stdout
    log = (sweep / "2" / "run.log").read_text()
    assert "a table of many lines" in log
    assert "Traceback" in log
    assert done.stderr == ""
    jobs.act.clear()
    assert jobs("-m", "seed=1,2,3,-4,5").returncode == 2
    assert jobs.ran == [1, 3]


def test_what_was_killed_after_its_report_or_before_its_first_file_is_put_in_order(jobs: Jobs) -> None:
    unused = Path("runs/multirun/evaluate/2026-01-01/00-00-00-0000")
    unused.mkdir(parents=True)
    (unused / ".lock").touch()
    jobs.act[3] = KeyboardInterrupt()
    jobs("-m", "seed=1,3")
    (sweep,) = sweeps()
    (sweep / "1" / "report.json").write_text("{}")
    jobs.act.clear()
    assert jobs("-m", "seed=1,3").returncode == 0
    assert jobs.ran == []
    assert json.loads((sweep / "1" / "status.json").read_text())["state"] == "done"


def test_a_named_folder_is_continued_by_its_command_alone(jobs: Jobs) -> None:
    jobs.act = {2: KeyboardInterrupt()}
    jobs("-m", "seed=1,2", "paths.run_dir=mine")
    assert sorted(path.name for path in Path().iterdir()) == ["mine"]
    jobs.act.clear()
    other = jobs("-m", "seed=1,3", "paths.run_dir=mine")
    assert (other.returncode, other.stderr, jobs.ran) == (2, "error: mine: holds another sweep; name another folder\n", [])
    assert jobs("-m", "seed=1,2", "paths.run_dir=mine").returncode == 0
    assert jobs.ran == [2]
    anew = jobs("-m", "seed=1,2", "paths.run_dir=mine", "resume=false")
    assert "holds a sweep already; resume=true continues it" in anew.stderr
    swept = jobs("-m", "seed=1", "paths.run_dir=a,b")
    assert "paths.run_dir=a,b: the jobs of a sweep have numbered folders in one" in swept.stderr
    jobs("seed=1", "paths.run_dir=run")
    assert "run: holds a run; name another folder" in jobs("-m", "seed=1,2", "paths.run_dir=run").stderr


def test_a_sweep_at_work_is_left_alone(jobs: Jobs) -> None:
    seen = []

    def inner(config: dict[str, Any], run: Run) -> None:
        from raccoon.files import locks

        assert locks.take(run.dir.parent) is None
        seen.append(read_jobs(run.dir.parent)[config["seed"] - 1].state)

    jobs.program(partial(app.main, "evaluate", inner), "-m", "seed=1,2")
    assert seen == ["running", "running"]


def test_a_finished_job_of_other_settings_is_no_substitute(jobs: Jobs) -> None:
    jobs("-m", "seed=1,2")
    (sweep,) = sweeps()
    status = json.loads((sweep / "0" / "status.json").read_text())
    (sweep / "0" / "status.json").write_text(json.dumps(status | {"fingerprint": "another"}))
    again = jobs("-m", "seed=1,2")
    assert again.returncode == 2
    assert "was made from other settings or files, or by other versions; resume=false starts a new sweep" in again.stdout


def test_a_command_line_that_is_refused_leaves_no_folder(jobs: Jobs) -> None:
    assert jobs("-m", "seed=1,2", "evaluator=nothing").returncode == 2
    assert jobs("-m", "seed=1,2", "evaluator.gmaes=1,2").returncode == 2
    assert not any(Path().iterdir())


def test_processes_that_a_job_starts_get_its_own_arguments(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFT_BY_A_JOB", "0")
    jobs("sweep=gnubg_plies", "seed=7", "--config-name=evaluate")
    assert len(jobs.arguments) == 3
    for ply, arguments in enumerate(jobs.arguments):
        assert arguments[:2] == ["--config-name=evaluate", f"player=gnubg{ply}"]
        assert "seed=7" in arguments
        assert arguments[-1] == "hydra.mode=RUN"
        assert "-m" not in arguments
    assert os.environ["LEFT_BY_A_JOB"] == "0"
    assert jobs(*jobs.arguments[1]).returncode == 0
    assert jobs.ran == [7]


def test_collect_and_dashboard_name_what_is_missing(jobs: Jobs) -> None:
    jobs.act = {3: RaccoonError("seed=3: refused"), 4: KeyboardInterrupt()}
    jobs("-m", "seed=1,2,3,-1,4,5")
    (sweep,) = sweeps()
    note = collect(sweep).notes[0]
    assert note.startswith(
        "Not all jobs are in: 4 of 6 jobs are not done: job 2 (seed=3) failed: seed=3: refused, job 3 (seed=-1) failed: "
    )
    assert note.endswith("job 4 (seed=4) interrupted, job 5 (seed=5) missing. What is said of the others may change.")
    assert [record.state for record in read_runs([sweep])] == ["done", "done", "failed", "interrupted", "failed", "missing"]
    said = dashboard_cli.run([str(sweep), "--no-images"])
    assert f"{sweep.name}/5 (missing)" in said
    for name in ("report.json", "status.json"):
        (sweep / "1" / name).unlink()
    with pytest.raises(RaccoonError, match=r"holds 1 finished runs .* \(5 of 6 jobs are not done: job 1 \(seed=2\) missing, job 2"):
        collect(sweep)


def test_collect_names_jobs_as_the_sweep_does_and_those_without_pr(jobs: Jobs) -> None:
    done = jobs("-m", "seed=1,2,3")
    assert done.returncode == 0, done.stdout + done.stderr
    (sweep,) = sweeps()
    (sweep / "1" / "decisions.npz").unlink()
    result = collect(sweep, replicates=100)
    assert len(result.notes) == 4, result.notes
    assert [(row["job"], row["settings"]) for row in result.tables["Sweep"]] == [("0", "seed=1"), ("2", "seed=3")]
    assert set(result.figures) == {"seed=1.pr", "seed=3.pr"}
    assert result.notes[0] == "Finished, but left out, for they have no PR: job 1 (seed=2)."


@pytest.mark.slow
def test_several_processes_a_job_start_one_sweep_only(tmp_path: Path) -> None:
    small = ["debug=fast", "model=mlp_small", "final.bgsage_pr=null", "final.vr_arena=null", "trainer.lr=1e-3,1e-4"]
    ddp = ["runtime=ddp", "runtime.accelerator=cpu", "runtime.devices=2", "runtime.precision=32-true"]
    command = [sys.executable, str(ROOT / "train.py"), "-m", *small, *ddp]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (sweep,) = (tmp_path / "runs" / "multirun" / "train").glob("*/*")
    assert [job.state for job in read_jobs(sweep)] == ["done", "done"]
    assert len(list((tmp_path / "runs").rglob("status.json"))) == 2
    assert done.stdout.count("sweep: ") == 1

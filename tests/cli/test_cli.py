"""The command line: help, clear errors without tracebacks, separate jobs, runs that can be repeated and continued."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli.program import app
from raccoon.cli.train import main as train_main
from raccoon.contracts import RaccoonError
from raccoon.runs.folder import Run

ROOT = Path(__file__).parents[2]
QUICK = ("player=gnubg0", "opponent=random", "debug=fast", "evaluator.luck=off")


def _faulty(config: dict[str, Any], run: Run) -> None:
    if config["seed"] == 2:
        raise RaccoonError("seed=2: this one is refused")
    if config["seed"] == 3:
        raise KeyError("a fault of the program")
    if config["seed"] == 5:
        raise OSError(28, "No space left on device", "some/file")
    print("ran", config["seed"], run.dir)


JOB = f"""
from __future__ import annotations
from raccoon.cli.program.app import main
from raccoon.contracts import RaccoonError

{inspect.getsource(_faulty)}
main("evaluate", _faulty)
"""


def python(folder: Path, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | env
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False, env=environment)


def job(folder: Path, *overrides: str, **env: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-c", JOB, *overrides, **env)


@pytest.fixture
def here(program: Callable[..., Any]) -> Callable[..., Any]:
    """``here(*overrides)``: ``job`` in this process."""
    return partial(program, partial(app.main, "evaluate", _faulty))


def test_help_lists_every_group_and_marks_the_defaults() -> None:
    from raccoon.cli.program.help import text
    from raccoon.cli.program.keys import READ
    from raccoon.plugins import catalogue

    page = text("train")
    for group, options in catalogue().items():
        if group.startswith("debug/"):
            continue
        for kind in READ:
            makes_runs = kind not in ("search", "rgp", "serve", "play")
            lacks = set() if makes_runs else {"debug", "executor", "experiment", "sweep"}
            assert ("[-m]" in text(kind)) is makes_runs
            refused = group.split("/")[0] in set().union(*READ.values()) - READ[kind] | lacks
            assert (f"\n  {group} " in text(kind)) is not refused
            assert refused or all(option in text(kind) for option in options)
    assert "resnet2x32*" in page
    assert "python train.py debug=fast" in page
    assert max(map(len, page.splitlines())) <= 120
    assert "python -m raccoon.cli.generate" in text("generate")
    assert "\n  move: null " in text("search")
    assert "stream" not in text("search")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("evaluator=nothing", "evaluator=nothing: no such option; there are arena"),
        ("player=checkpoint", "player.checkpoint: needs a value"),
        ("player=[a", "no viable alternative"),
        ("~evaluator", "evaluator: not in the config, but needed; leave out ~evaluator"),
        ("+gmaes=5", "gmaes: nothing reads that key"),
        ("~search", "search: not in the config, but needed; leave out ~search"),
        ("paths=null", "paths: not in the config, but needed; leave out ~paths"),
        ("~paths", "paths: not in the config, but needed; leave out ~paths"),
    ],
)
def test_unknown_options_and_keys_are_named_without_a_traceback(
    here: Callable[..., Any], tmp_path: Path, override: str, message: str
) -> None:
    done = here(override)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_key_of_the_users_own_may_be_referred_to(here: Callable[..., Any]) -> None:
    done = here("+mine=11", "evaluator.games=${mine}")
    assert done.returncode == 0, done.stderr


def test_refusals_are_one_line_and_exit_with_2(here: Callable[..., Any], tmp_path: Path) -> None:
    done = here("seed=2")
    assert done.returncode == 2
    assert done.stderr.strip() == "error: seed=2: this one is refused"
    assert "refused" not in done.stdout
    assert not any(tmp_path.iterdir())
    shown = job(tmp_path, "seed=2", HYDRA_FULL_ERROR="1")
    assert shown.returncode == 1
    assert "Traceback" in shown.stderr


def test_a_section_that_was_taken_out_is_named(program: Callable[..., Any]) -> None:
    done = program(train_main, "~trainer")
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().splitlines()[-1] == "error: trainer: not in the config, but needed; leave out ~trainer"


def test_faults_of_the_program_show_where(tmp_path: Path) -> None:
    for full in ("0", "1"):
        done = job(tmp_path, "seed=3", HYDRA_FULL_ERROR=full)
        assert done.returncode == 1
        assert "KeyError: 'a fault of the program'" in done.stderr
        assert "Traceback" in done.stderr


def test_a_disk_that_is_full_under_a_library_is_no_fault_of_the_program(here: Callable[..., Any]) -> None:
    done = here("seed=5")
    assert done.returncode == 2
    assert done.stderr.strip() == "error: some/file: cannot be written (No space left on device); free some space or name another folder"


def test_jobs_of_a_multirun_are_separate_and_survive_each_other(tmp_path: Path) -> None:
    done = job(tmp_path, "-m", "seed=1,2,4")
    assert done.returncode == 2
    assert done.stderr == ""
    assert "job 1  seed=2  failed: seed=2: this one is refused\n" in done.stdout
    folders = sorted(path.parent for path in (tmp_path / "runs" / "multirun").glob("evaluate/*/*/*/status.json"))
    assert [folder.name for folder in folders] == ["0", "1", "2"]
    assert len({folder.parent for folder in folders}) == 1
    assert [json.loads((folder / "status.json").read_text())["state"] for folder in folders] == ["done", "failed", "done"]
    named = job(tmp_path, "-m", "seed=1,4", "paths.run_dir=mine")
    assert named.returncode == 0, named.stderr
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [".lock", "0", "1", "multirun.yaml", "sweep.json"]


def test_a_sweep_option_needs_no_flag(here: Callable[..., Any]) -> None:
    done = here("sweep=gnubg_plies")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sweep: runs/multirun/evaluate/")
    assert [line.split("  ")[0] for line in done.stdout.splitlines()[1:4]] == ["job 0", "job 1", "job 2"]


def test_a_run_can_be_repeated_from_its_folder(tmp_path: Path) -> None:
    assert job(tmp_path, "seed=7", "evaluator.games=11", "paths.run_dir=first").returncode == 0
    done = job(tmp_path, "--config-dir", "first", "--config-name", "config")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").glob("evaluate/*/*")
    again = (folder / "config.yaml").read_text()
    assert again == (tmp_path / "first" / "config.yaml").read_text()
    assert "games: 11" in again
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "runs"]


def test_evaluate_writes_a_report_once(tmp_path: Path) -> None:
    command = (str(ROOT / "evaluate.py"), *QUICK, "paths.run_dir=mine")
    done = python(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "mine" / "report.json").read_text())
    assert (report["evaluator"], report["player"]) == ("vr_arena", "gnubg0")
    assert "report: mine/report.md" in done.stdout
    refused = python(tmp_path, *command)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: mine: holds a finished run")
    assert json.loads((tmp_path / "mine" / "report.json").read_text()) == report


@pytest.mark.slow
def test_an_arena_killed_in_the_middle_continues_and_gives_the_same_result(tmp_path: Path) -> None:
    games = ("evaluator.games=600", "evaluator.shard_games=20")
    command = [str(ROOT / "evaluate.py"), *QUICK, *games]
    whole = python(tmp_path, *command, "paths.run_dir=whole")
    assert whole.returncode == 0, whole.stderr
    process = subprocess.Popen([sys.executable, *command], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while len(list((tmp_path / "runs").glob("evaluate/*/*/shards/shard-*.npz"))) < 4:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = python(tmp_path, *command)
    assert again.returncode == 0, again.stderr
    assert "continuing the unfinished run" in again.stdout
    (folder,) = (tmp_path / "runs").glob("evaluate/*/*")
    one, two = (json.loads((where / "report.json").read_text())["figures"] for where in (tmp_path / "whole", folder))
    assert one["ppg_raw"] == two["ppg_raw"]


def experiments() -> list[tuple[str, str]]:
    """(program, experiment) for each file of the group; its comment says so when it belongs to evaluate.py."""
    files = sorted((ROOT / "conf" / "experiment").glob("*.yaml"))
    return [("evaluate.py" if "# evaluate.py:" in path.read_text(encoding="utf-8") else "train.py", path.stem) for path in files]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "experiment"), experiments())
def test_every_experiment_runs_fast(tmp_path: Path, program: str, experiment: str) -> None:
    runtime = ["runtime=gpu", "runtime.accelerator=cpu"] if program == "train.py" else []
    text = (ROOT / "conf" / "experiment" / f"{experiment}.yaml").read_text(encoding="utf-8")
    jobs, small = text.count("MULTIRUN"), ["evaluator.sample=6"] if "sample:" in text else []
    small += {
        "features": ["encoder/feature=[],[pip,blots]"],
        "objective_schedule": ["trainer.objective=both"],
        "exp016": ["model/head=scalar"],
    }.get(experiment, [])  # two jobs of six
    if experiment == "default_net_mixture":  # labels a set again
        made = python(tmp_path, "-m", "raccoon.cli.generate", "data=demo", "debug=fast", "folder=set")
        assert made.returncode == 0, made.stderr
        small.append("data.source.folder=set")
    done = python(tmp_path, str(ROOT / program), f"experiment={experiment}", "debug=fast", *runtime, *small, "paths.run_dir=mine")
    assert done.returncode == 0, done.stderr
    reports = list((tmp_path / "mine").glob("*/report.json" if jobs else "report.json"))
    assert len(reports) > 1 if jobs else len(reports) == 1


@pytest.mark.slow
def test_a_sweep_over_heads_and_encodings_makes_four_separate_runs(tmp_path: Path) -> None:
    overrides = ("model=resnet2x32", "model/head=scalar,outcomes6", "encoder=base,all", "debug=fast")
    done = python(tmp_path, str(ROOT / "train.py"), "-m", *overrides)
    assert done.returncode == 0, done.stderr
    reports = sorted((tmp_path / "runs" / "multirun" / "train").glob("*/*/*/report.json"))
    assert [path.parent.name for path in reports] == ["0", "1", "2", "3"]
    configs = {(path.parent / "config.yaml").read_text() for path in reports}
    assert len(configs) == 4
    assert all((path.parent / "net.pt").exists() for path in reports)


SLEEPS = """
import os, sys, time
from raccoon.cli.program.app import main
from raccoon.executor import ProcessExecutor
from raccoon.progress import Work

def shard(job, index):
    open(os.path.join(job["folder"], f"worker-{os.getpid()}"), "w").close()
    time.sleep(600)

def job(config, run):
    list(ProcessExecutor(2, progress=False).map(shard, {"folder": str(run.dir)}, range(2), Work("sleeps")))

if __name__ == "__main__":
    main("evaluate", job)
"""
FITS = """
import lightning.pytorch as pl, torch, time, warnings
from raccoon.cli.program.app import main
warnings.simplefilter("ignore")

class Module(pl.LightningModule):
    def __init__(self, folder):
        super().__init__()
        self.layer, self.folder = torch.nn.Linear(1, 1), folder
    def training_step(self, batch, index):
        (self.folder / "worker-1").touch()
        (self.folder / "worker-2").touch()
        time.sleep(0.05)
        return self.layer(batch).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def job(config, run):
    quiet = dict(enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
    loader = torch.utils.data.DataLoader(torch.zeros(10**4, 1))
    pl.Trainer(accelerator="cpu", logger=False, max_epochs=1, **quiet).fit(Module(run.dir), loader)

if __name__ == "__main__":
    main("evaluate", job)
"""


@pytest.mark.parametrize("program", [SLEEPS, FITS], ids=["workers", "training"])
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on(
    tmp_path: Path, heeds_ctrl_c: Callable[[], None], program: str, sent: signal.Signals, status: int
) -> None:
    (tmp_path / "program.py").write_text(program)
    process = subprocess.Popen(
        [sys.executable, "program.py", "paths.run_dir=mine"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True, preexec_fn=heeds_ctrl_c,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 240
        while len(list((tmp_path / "mine").glob("worker-*"))) < 2:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        began = time.monotonic()
        os.killpg(process.pid, sent) if sent == signal.SIGINT else process.send_signal(sent)
        _, error = process.communicate(timeout=60)  # nobody waits for the shards that run
        assert time.monotonic() - began < 10  # some tenths of a second where the cores are free
    finally:
        process.kill()  # of no effect where it has ended
        process.communicate()
    assert process.returncode == status
    assert error.strip().splitlines()[-1] == "interrupted: mine keeps what is done; the same command continues it", error
    assert "Traceback" not in error
    assert json.loads((tmp_path / "mine" / "status.json").read_text())["state"] == "interrupted"
    written = (tmp_path / "mine" / "run.log").read_text()
    assert "WARNING raccoon.runs.folder: interrupted" in written
    assert "Traceback" not in written

"""What cannot work is told before there is a run folder; a folder in which a refused command wrote nothing goes away again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from raccoon.cli import evaluate
from raccoon.cli.program import app, before
from raccoon.cli.program.composing import compose
from raccoon.contracts import RaccoonError
from raccoon.runs.folder import Run


def never(config: dict[str, Any], run: Run) -> None:
    raise AssertionError("work has begun")


@pytest.mark.parametrize(
    ("kind", "overrides", "message"),
    [
        ("evaluate", ["player=checkpoint", "player.checkpoint=missing.pt"], "player.checkpoint='missing.pt': no such file"),
        ("evaluate", ["opponent=checkpoint", "opponent.checkpoint=runs"], "opponent.checkpoint='runs': no such file"),
        ("evaluate", ["player.engine.path=missing.pt"], "player.engine.path='missing.pt'"),
        (
            "evaluate",
            ["evaluator=frontier", "evaluator.players.net-0ply.engine.path=a.pt"],
            "evaluator.players.net-0ply.engine.path='a.pt'",
        ),
        ("evaluate", ["evaluator.games=ten"], "evaluator.games='ten': give a whole number"),
        ("evaluate", ["executor.workers=-1"], "executor.workers=-1: give 0"),
        ("train", ["init=missing.pt"], "init='missing.pt': no such file"),
        ("train", ["data=folders", "data.folders=[missing]"], "data.folders: 'missing': no such folder"),
        ("train", ["final.vr_arena.games=ten"], "final.vr_arena.games='ten': give a whole number"),
        ("train", ["runtime=gpu"], "runtime.accelerator=gpu: this machine has no such device"),
        ("generate", ["data=wildbg", "data.source.files=[missing.csv]"], "data.source.files: missing.csv is not a file"),
        ("generate", ["data=relabel", "data.source.folder=missing"], "missing: no meta.json"),
        ("generate", ["data.source.games=0"], "data.source.games=0: give a whole number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_told_before_there_is_a_folder(
    program: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, overrides: list[str], message: str
) -> None:
    monkeypatch.setattr(before, "_has_gpu", lambda accelerator: False)
    done = program(partial(app.main, kind, never), *overrides)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error: {message}"), done.stderr
    assert done.stdout == ""
    assert not any(tmp_path.iterdir())


def test_what_works_is_let_through(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from raccoon.config.instantiate import plain

    monkeypatch.setattr(before, "_has_gpu", lambda accelerator: True)
    before.check("train", plain(compose("train", [f"init={tiny_checkpoint}", "runtime=gpu", "paths.run_dir=x"])))
    before.check("evaluate", plain(compose("evaluate", ["player=checkpoint", f"player.checkpoint={tiny_checkpoint}", "paths.run_dir=x"])))


@pytest.mark.parametrize("named", [(), ("paths.run_dir=mine/first",)])
def test_a_folder_in_which_nothing_was_written_goes_away(program: Callable[..., Any], tmp_path: Path, named: tuple[str, ...]) -> None:
    def refused(config: dict[str, Any], run: Run) -> None:
        raise RaccoonError("seed: told late")

    done = program(partial(app.main, "evaluate", refused), *named)
    assert (done.returncode, done.stderr) == (2, "error: seed: told late\n")
    assert [path.name for path in tmp_path.iterdir()] == []


def test_what_was_written_stays_and_so_does_a_folder_that_was_there(program: Callable[..., Any], tmp_path: Path) -> None:
    def refused(config: dict[str, Any], run: Run) -> None:
        if config["seed"] == 1:
            (run.dir / "shards").mkdir()
            (run.dir / "shards" / "0.npz").write_text("work")
        raise RaccoonError("seed: told late")

    program(partial(app.main, "evaluate", refused), "paths.run_dir=worked")
    assert (tmp_path / "worked" / "status.json").is_file()
    (tmp_path / "there").mkdir()
    program(partial(app.main, "evaluate", refused), "paths.run_dir=there", "seed=2")
    assert (tmp_path / "there").is_dir()


def test_a_worker_that_refuses_leaves_nothing(program: Callable[..., Any], tmp_path: Path) -> None:
    small = ["executor.workers=0", "evaluator.games=2", "search=expectimax", "search.filter.k=0"]
    done = program(evaluate.main, *small)
    assert done.stderr == "error: search.filter.k=0: give a whole number, 1 or more\n"
    assert not any(tmp_path.iterdir())

"""No key is ignored in silence: what a program does not read is refused on its command line, and what it says it reads, it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from raccoon.cli import evaluate, generate, search
from raccoon.cli.program import app
from raccoon.cli.program.keys import READ, WITHIN
from raccoon.runs.folder import Run


@pytest.mark.parametrize(
    ("kind", "overrides", "message"),
    [
        (
            "generate",
            ["data.batch_size=5"],
            "data.batch_size: generate does not read that key (it reads data.source, data.data_dir and data.minutes)",
        ),
        ("generate", ["data.seed=5"], "data.seed: generate does not read that key"),
        ("generate", ["seed=5"], "seed: generate does not read that key (data.source.seed decides which games there are)"),
        ("generate", ["folder=x", "data.data_dir=y"], "folder=x: says where the set goes, and so does data.data_dir"),
        ("generate", ["folder=x", "paths.data_dir=y"], "folder=x: says where the set goes, and so does paths.data_dir"),
        ("rgp", ["seed=5"], "seed: rgp does not read that key"),
        ("serve", ["seed=5"], "seed: serve does not read that key"),
        ("evaluate", ["player=static", "player.checkpoint=default", "opponent=random", "search=expectimax"], "search: evaluate does not"),
        ("evaluate", ["player=sage1_cube", "opponent=sage1_cube", "cube=dead"], "cube: evaluate does not read that key"),
        ("evaluate", ["evaluator=frontier", "opponent=sage1"], "opponent: evaluator=frontier does not read it"),
        ("evaluate", ["evaluator=cube_fit", "player=gnubg1"], "player: evaluator=cube_fit does not read it"),
        ("evaluate", ["evaluator=gnubg_harness", "opponent.name=x"], "opponent.name: evaluator=gnubg_harness does not read it"),
        (
            "evaluate",
            ["evaluator=bgsage_pr", "evaluator.compare=null", "opponent=random"],
            "opponent: evaluator=bgsage_pr does not read it",
        ),
        ("evaluate", ["paths.data_dir=x"], "paths.data_dir: evaluate does not read that key (it reads paths.run_dir)"),
        ("train", ["trainer=td", "data=selfplay", "paths.data_dir=x"], "paths.data_dir: train does not read that key"),
        ("search", ["position=4HPwATDgc/ABMA", "seed=5"], "seed: search does not read that key"),
        ("evaluate", ["player=static", "player.checkpoint=default", "engine@player.engine=gnubg0"], "player.checkpoint: no network of"),
        (
            "evaluate",
            ["opponent.checkpoint=default", "opponent=default", "opponent.engine.path=prune"],
            "opponent.checkpoint: no network of",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_key_that_would_be_ignored_is_refused(program: Callable[..., Any], kind: str, overrides: list[str], message: str) -> None:
    def never(config: dict[str, Any], run: Run | None) -> None:
        raise AssertionError("work has begun")

    done = program(partial(app.main, kind, never, run_folder=kind not in ("search", "rgp", "serve", "play")), *overrides)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}"), done.stderr


@pytest.mark.parametrize(
    ("kind", "overrides"),
    [
        ("generate", ["data=gnubg1", "data.source.games=9", "+mine=3", "data.source.seed=${mine}", "resume=false"]),
        ("generate", ["data=demo", "data.source.seed=${seed}", "seed=4"]),
        ("generate", ["engine@data.source.teacher=gnubg1", "debug=fast", "paths.data_dir=x"]),
        ("evaluate", ["search=expectimax", "search/filter=union", "cube=dead", "evaluator=frontier", "~opponent"]),
        ("evaluate", ["cube@opponent.cube=dead", "player=random", "opponent=gnubg0", "search=greedy"]),
        ("evaluate", ["evaluator=bgsage_pr", "opponent=random"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_read_somewhere_is_let_through(program: Callable[..., Any], kind: str, overrides: list[str]) -> None:
    done = program(partial(app.main, kind, lambda config, run: None), *overrides, "paths.run_dir=here")
    assert done.returncode == 0, done.stderr


def test_both_keys_of_the_data_folder_are_one(program: Callable[..., Any], tmp_path: Path) -> None:
    small = ["debug=fast", "data.source.games=2", "data.source.shard_games=2", "executor.workers=0"]
    for key in ("data.data_dir", "paths.data_dir"):
        done = program(generate.main, *small, f"{key}={key}", f"paths.run_dir=run-{key}")
        assert done.returncode == 0, done.stderr
        assert f"set: {key}/demo-" in done.stdout
    assert not (tmp_path / "data").exists()


class Recorded(dict[str, Any]):
    """A section that remembers which of its keys were looked at; ``read`` takes their dotted names."""

    def __init__(self, node: dict[str, Any], read: set[str], at: str = "") -> None:
        deeper = {key: Recorded(value, read, f"{at}{key}.") if isinstance(value, dict) and not at else value for key, value in node.items()}
        super().__init__(deeper)
        self.read, self.at = read, at

    def __getitem__(self, key: str) -> Any:
        self.read.add(f"{self.at}{key}")
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is what get is made of

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self.read.add(f"{self.at}{key}")
            yield key

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


RUNS: dict[str, tuple[Callable[[dict[str, Any], Any], None], list[str]]] = {
    "generate": (generate._job, ["debug=fast", "data.source.games=2", "data.source.shard_games=2"]),
    "evaluate": (evaluate.evaluate, ["player=random", "opponent=random", "evaluator.games=2", "evaluator.luck=off"]),
    "search": (search._job, ["position=4HPwATDgc/ABMA", "dice=31", "player=gnubg0"]),
}


@pytest.mark.parametrize("kind", RUNS)
def test_a_program_reads_what_it_says_and_nothing_else(program: Callable[..., Any], kind: str) -> None:
    job, overrides = RUNS[kind]
    read: set[str] = set()
    whole: list[dict[str, Any]] = []

    def recorded(config: dict[str, Any], run: Any) -> None:
        whole.append(config)
        job(Recorded(config, read), run)

    executor = [] if kind == "search" else ["executor.workers=0", "paths.run_dir=here"]
    done = program(partial(app.main, kind, recorded, run_folder=kind != "search"), *overrides, *executor)
    assert done.returncode == 0, done.stderr
    there = {part for part in WITHIN[kind] if OmegaConf.select(OmegaConf.create(whole[0]), part, default=None) is not None}
    by_the_run = {"resume", "paths.run_dir", "paths", "seed"} if kind != "search" else set()
    unread = {part for part in there - by_the_run if part not in read and not any(key.startswith(f"{part}.") for key in read)}
    assert not unread
    assert {key.split(".")[0] for key in read} <= READ[kind]

"""Options of the group ``debug`` shrink what is there, and bring nothing back that another option left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from raccoon.cli.program import app
from raccoon.cli.program.composing import compose, settled
from raccoon.config.instantiate import plain
from raccoon.runs.folder import Run

EXPERIMENT = """# @package _global_
final: {vr_arena: null, bgsage_pr: {games: 30}}
data: {source: null}
"""


def test_debug_fast_leaves_out_what_an_experiment_leaves_out(program: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "conf" / "experiment").mkdir(parents=True)
    (tmp_path / "conf" / "experiment" / "less.yaml").write_text(EXPERIMENT)
    seen: list[dict[str, Any]] = []

    def kept(config: dict[str, Any], run: Run) -> None:
        seen.append(config)

    done = program(partial(app.main, "train", kept), "--config-dir", str(tmp_path / "conf"), "experiment=less", "debug=fast")
    assert done.returncode == 0, done.stderr
    (config,) = seen
    assert config["final"]["vr_arena"] is None
    assert config["data"]["source"] is None
    assert (config["final"]["bgsage_pr"]["games"], config["data"]["batch_size"]) == (1, 64)
    assert "_sizes_" not in str(config)


def test_debug_fast_shrinks_what_is_there_and_the_command_line_wins() -> None:
    config = plain(compose("train", ["debug=fast", "final.vr_arena.games=20"]))
    assert (config["final"]["vr_arena"]["games"], config["final"]["vr_arena"]["shard_games"]) == (20, 3)
    assert (config["data"]["source"]["games"], config["data"]["source"]["_target_"]) == (8, "raccoon.data.SelfPlayLabels")
    assert plain(compose("train", ["debug=fast", "final.vr_arena=null"]))["final"]["vr_arena"] is None
    marked = OmegaConf.create({"a": {"b": {"_sizes_": True, "n": 1}, "c": "${a.b}", "d": None}, "e": "???", "f": [1]})
    assert settled(marked) == {"a": {"b": None, "c": "${a.b}", "d": None}, "e": "???", "f": [1]}

"""Sweeps name parameters that exist: Hydra's files and W&B's, every value of every parameter composed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose as hydra_compose
from hydra import initialize_config_module
from hydra.core.override_parser.overrides_parser import OverridesParser

from raccoon import plugins
from raccoon.cli.program.composing import compose
from raccoon.cli.program.keys import READ
from raccoon.config.instantiate import plain

ROOT = Path(__file__).parents[2]
HYDRA = sorted((ROOT / "conf" / "sweep").glob("*.yaml"))
WANDB = sorted((ROOT / "sweeps").glob("*.yaml"))


def load(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def hydra_params(path: Path) -> dict[str, list[str]]:
    found = {}
    for key, text in load(path)["hydra"]["sweeper"]["params"].items():
        override = OverridesParser.create().parse_override(f"{key}={text}")
        found[key] = [str(value) for value in override.sweep_iterator()]
    return found


def wandb_params(path: Path) -> dict[str, list[str]]:
    return {key: [str(value) for value in node["values"]] for key, node in load(path)["parameters"].items()}


def jobs(params: dict[str, list[str]]) -> list[list[str]]:
    """As many jobs as the longest list, in which every value comes up."""
    return [[f"{key}={values[at % len(values)]}" for key, values in params.items()] for at in range(max(map(len, params.values())))]


def check(root: str, fixed: list[str], params: dict[str, list[str]]) -> None:
    for job in jobs(params):
        config = plain(compose(root, [*fixed, *job]))
        assert set(config) <= READ[root]
        for override in job:
            key, _, value = override.partition("=")
            if "/" in key or key in plugins.catalogue():
                continue
            node: Any = config
            for part in key.split("."):
                node = node[part]
            assert str(node) == value, override


@pytest.mark.parametrize("path", HYDRA, ids=[path.stem for path in HYDRA])
def test_hydra_sweeps(path: Path) -> None:
    root = "evaluate" if "# evaluate.py:" in path.read_text(encoding="utf-8") else "train"
    check(root, [f"sweep={path.stem}"], hydra_params(path))


@pytest.mark.parametrize("path", WANDB, ids=[path.stem for path in WANDB])
def test_wandb_sweeps_are_the_same_grid_and_run_the_same_jobs(path: Path) -> None:
    sweep = load(path)
    assert (ROOT / sweep["program"]).is_file()
    env, python, program, *fixed, rest = sweep["command"]
    assert (env, python, program, rest) == ("${env}", "python", "${program}", "${args_no_hyphens}")
    params = wandb_params(path)
    same = ROOT / "conf" / "sweep" / path.name
    assert params == hydra_params(same)
    root = sweep["program"].removesuffix(".py")
    check(root, fixed, params)
    job = jobs(params)[0]
    ours, theirs = plain(compose(root, [f"sweep={path.stem}", *job])), plain(compose(root, [*fixed, *job]))
    del theirs["logger"]
    ours.pop("logger", None)
    assert theirs == ours


def test_a_sweep_file_turns_the_command_into_a_multirun() -> None:
    plugins.install()
    with initialize_config_module(plugins.CONF, version_base="1.3"):
        config = hydra_compose("evaluate", ["sweep=exp021"], return_hydra_config=True)
    assert config.hydra.mode.name == "MULTIRUN"
    assert config.hydra.sweeper.params["search.opponent"] == "greedy,full"

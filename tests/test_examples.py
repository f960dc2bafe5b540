"""The scripts in examples/ run, and import public names only; the plugin is the one that the pages explain."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
_PUBLIC = re.compile(r"raccoon(\.[a-z]+)?")  # Raccoon itself and the facades of its packages


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_network_is_trained_and_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = _module("train_and_measure").main(tmp_path)
    assert "val/mse" in report.figures
    assert "points at the start" in capsys.readouterr().out


def test_two_positions_are_analysed(capsys: pytest.CaptureFixture[str]) -> None:
    found = _module("analyse").main("gnubg0", "static")
    assert found.cube_action.action == "double, take"
    out = capsys.readouterr().out
    assert "16 plays of the opening 3-1" in out
    assert "cube at 1, centred: double, take" in out


def test_an_arena_takes_a_player_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    report = _module("arena").main("gnubg0", games=2)
    assert (report.player, report.opponent, report.evaluator) == ("runner", "gnubg0", "cube_arena")
    assert report.figures["doubles_per_game_player"].value == 0
    assert capsys.readouterr().out.count("runner v gnubg0") == 2


def test_the_scripts_are_these_and_import_public_names_only() -> None:
    assert [path.stem for path in SCRIPTS] == ["analyse", "arena", "train_and_measure"]
    for path in SCRIPTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert _PUBLIC.fullmatch(str(node.module)) or not str(node.module).startswith("raccoon"), f"{path.name}: {node.module}"
                names = {alias.name for alias in node.names}
                if str(node.module).startswith("raccoon"):
                    assert names <= set(importlib.import_module(str(node.module)).__all__), f"{path.name}: {names}"


def test_the_plugin_has_an_option_in_every_group_that_has_a_page() -> None:
    project = tomllib.loads((EXAMPLES / "plugin" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["raccoon.plugins"] == {"my": "my_package.conf"}
    groups = {path.parent.name for path in (EXAMPLES / "plugin" / "my_package" / "conf").glob("*/*.yaml")}
    kinds = {"callbacks", "cube", "data", "encoder", "engine", "evaluator", "executor", "logger", "model", "player", "search", "trainer"}
    assert kinds <= groups

"""A third-party package, installed for real: its options are seen everywhere; a broken one is named and left out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raccoon.plugins import catalogue, defaults, plugins

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the installed fixture package, to be put on PYTHONPATH."""
    target = tmp_path_factory.mktemp("plugin")
    source = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(["cp", "-r", str(ROOT / "tests" / "plugin_fixture"), str(source)], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, str(source)], check=True)
    return target


def run(installed: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, env=env)


def test_the_fixture_is_not_installed_here() -> None:
    assert "fixture" not in {plugin.name for plugin in plugins()}


def test_help_lists_the_options_and_names_their_provider(installed: Path) -> None:
    done = run(installed, str(ROOT / "train.py"), "--help")
    assert done.returncode == 0, done.stderr
    for option in ("fixture_pips [raccoon-fixture]", "fixture_quick [raccoon-fixture]"):
        assert option in done.stdout


def test_options_complete_on_the_command_line(installed: Path) -> None:
    line = "train.py encoder=fix"
    code = (
        f"import os, sys; sys.argv = ['train.py', '-sc', 'query=bash']; os.environ['COMP_LINE'] = {line!r}\n"
        f"os.environ['COMP_POINT'] = '{len(line)}'\nfrom raccoon.cli.train import main\nmain()"
    )
    assert "encoder=fixture_pips" in run(installed, "-c", code).stdout


def test_an_experiment_of_the_plugin_composes_from_the_command_line(installed: Path) -> None:
    done = run(installed, str(ROOT / "train.py"), "experiment=fixture_quick", "--cfg", "job")
    assert done.returncode == 0, done.stderr
    assert "hidden:" in done.stdout
    assert "blots: false" in done.stdout


def test_options_compose_build_and_conform(installed: Path) -> None:
    code = """
from raccoon.config.instantiate import build
from raccoon.cli.program.composing import compose
from raccoon.testing import check_encoder, check_engine, check_player

cfg = compose("evaluate", ["player=fixture_pips", "player.engine.scale=80"])
player = build(cfg.player, "player")
assert type(player.engine).__module__ == "raccoon_fixture.engine" and player.engine.scale == 80
check_engine(cfg.player.engine)
check_player(cfg.player)
encoder = compose("train", ["experiment=fixture_quick"]).encoder
check_encoder(encoder)
assert build(encoder).n_channels == 20
print("conforms")
"""
    done = run(installed, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("conforms\n")


def test_a_target_outside_the_plugins_package_stays_forbidden(installed: Path) -> None:
    code = "from raccoon.config.instantiate import build\nbuild({'_target_': 'raccoon_other.Engine'})"
    done = run(installed, "-c", code)
    allowed = "raccoon.*, lightning.pytorch.callbacks.*, lightning.pytorch.loggers.*, torch.optim.*, raccoon_fixture.*"
    assert f"allowed are classes in {allowed}" in done.stderr


@pytest.fixture
def broken(installed: Path) -> Iterator[Path]:
    """The same folder with a second package beside it whose import fails."""
    info = installed / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[raccoon.plugins]\nbroken = broken_plugin.conf\n")
    package = installed / "broken_plugin"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('no licence found')\n")
    yield installed
    subprocess.run(["rm", "-r", str(info), str(package)], check=True)


def test_a_broken_plugin_is_named_and_stops_nothing(broken: Path) -> None:
    done = run(broken, str(ROOT / "train.py"), "--help")
    assert done.returncode == 0, done.stderr
    assert "plugin broken of the distribution broken-plugin is left out: RuntimeError('no licence found')" in done.stderr
    assert "fixture_pips" in done.stdout


def test_catalogue_and_defaults() -> None:
    found = catalogue()
    assert {"csv", "tensorboard", "wandb"} <= set(found["logger"])
    assert set(found["runtime"].values()) == {"raccoon"}
    assert "head" not in found["model"]
    assert {"scalar", "outcomes6"} <= set(found["model/head"])
    assert list(found) == sorted(found)
    assert defaults("train")["model"] in found["model"]
    assert defaults("train")["experiment"] == "null"
    assert "hydra/job_logging" not in defaults("train")

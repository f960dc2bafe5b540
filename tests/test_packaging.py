"""What is installed is what is in the checkout: packages, configuration, assets; documented commands exist."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import raccoon
from raccoon import versions
from raccoon.executor import fingerprint

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_is_listed() -> None:
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "raccoon").rglob("__init__.py")}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found | {"raccoon.conf"}
    loose = [path for path in (ROOT / "raccoon").rglob("*.py") if not (path.parent / "__init__.py").exists()]
    assert not loose, "modules outside a package are not installed"


def test_no_registry_host_is_written_down() -> None:
    for name in ("pyproject.toml", "constraints.txt", "Makefile", ".ci/run"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "pypi.org" not in text
        assert "download.pytorch.org" not in text
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert all("==" in pin for pin in pins)


def test_constraints_satisfy_the_requirements() -> None:
    from importlib.metadata import version

    from packaging.requirements import Requirement

    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    normal = {name.lower().replace("_", "-"): pin for name, pin in pins.items()}
    project = PROJECT["project"]
    for line in itertools.chain(project["dependencies"], *project["optional-dependencies"].values()):
        requirement = Requirement(line)
        pin = normal.get(requirement.name.lower().replace("_", "-"))
        if pin is None:
            assert requirement.name == "setuptools"
            continue
        assert requirement.specifier.contains(pin, prereleases=True), line
    assert version("raccoon") == raccoon.__version__


def test_the_wheel_holds_configuration_assets_and_types(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    for folder in ("conf", "raccoon"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*command, str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        scripts = archive.read(next(name for name in held if name.endswith("entry_points.txt"))).decode()
    wanted = {f"raccoon/conf/{path.relative_to(ROOT / 'conf')}" for path in (ROOT / "conf").rglob("*.yaml")}
    wanted |= {str(path.relative_to(ROOT)) for path in (ROOT / "raccoon").rglob("*.py")}
    wanted |= {f"raccoon/assets/{path.name}" for path in (ROOT / "raccoon" / "assets").iterdir() if path.is_file()}
    wanted |= {"raccoon/py.typed", "raccoon/conf/__init__.py"}
    assert wanted <= held, wanted - held
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in held)
    assert "raccoon-train = raccoon.cli.train:main" in scripts
    assert "raccoon-evaluate = raccoon.cli.evaluate:main" in scripts


def test_make_help_lists_the_targets() -> None:
    out = subprocess.run(["make", "-C", str(ROOT), "--no-print-directory"], capture_output=True, text=True, check=True).stdout
    for target in ("train", "test", "test-slow", "check", "bench", "clean"):
        assert f"make {target} " in out


def test_the_version_is_that_of_the_newest_release_in_the_changelog() -> None:
    headings = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    numbers = [tuple(map(int, number.split("."))) for number, _ in headings[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == len(numbers) >= 3
    assert [date for _, date in headings[1:]] == sorted((date for _, date in headings[1:]), reverse=True)
    assert headings[1][0] == raccoon.__version__


def test_a_new_version_continues_what_an_older_one_began(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint({"seed": 1})
    monkeypatch.setattr(versions, "__version__", "99.0")
    assert versions.installed()["raccoon"] == "99.0"
    assert fingerprint({"seed": 1}) == before
    assert versions.computing()["raccoon"] == "0.1.0"  # raised: label sets of all older releases are made anew


def test_the_hooks_of_a_commit_download_nothing() -> None:
    hooks = [
        hook for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"] for hook in repo["hooks"]
    ]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert {"ruff", "ruff-format", "basedpyright"} <= {hook["id"] for hook in hooks}
    assert all((Path(sys.executable).parent / hook["entry"].split()[0].removeprefix(".venv/bin/")).exists() for hook in hooks)

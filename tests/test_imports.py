"""Imports point one way, and starting up costs no torch."""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import raccoon

ROOT = Path(raccoon.__file__).parent
LAYERS = [
    ["env"],
    ["model", "artifact"],
    ["engine"],
    ["search", "cube"],
    ["play"],
    ["matches"],
    ["data", "train", "eval", "protocol"],
    ["dashboard"],
    ["cli"],
    ["api"],
    ["testing"],
]
RANK = {package: rank for rank, packages in enumerate(LAYERS, start=1) for package in packages}
# Modules not in LAYERS (contracts, rng, files, ..) have rank 0: everybody may import them, they import none of the others.
TORCH_FREE = ["contracts", "rng", "files", "lazy", "versions", "executor", "progress", "build", "plugins", "runs", "sweeps", "assets"]
TORCH_FREE += [f"api.{name}" for name in ("analysis", "loading", "measuring", "training")]


def package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports() -> Iterator[tuple[str, str]]:
    """(module, imported raccoon module) of every import in the library, late ones included."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        typing_only = {id(n) for i in ast.walk(tree) if isinstance(i, ast.If) and "TYPE_CHECKING" in ast.dump(i.test) for n in ast.walk(i)}
        for node in ast.walk(tree):
            if id(node) in typing_only:
                continue
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative import"
                names = [f"{node.module}.{alias.name}" if node.module == "raccoon" else str(node.module) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            yield from ((module, name) for name in names if name.split(".")[0] == "raccoon")


def test_imports_point_one_way() -> None:
    wrong = []
    for module, imported in imports():
        a, b = package(module), package(imported)
        if a == b or not b or not a:
            continue
        rank_a, rank_b = RANK.get(a, 0), RANK.get(b, 0)
        # peers may use each other (data plays games, training measures); nothing below may use what is above
        if rank_b > rank_a:
            wrong.append(f"{module} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_every_package_has_a_place_in_the_order() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - set(RANK) <= {"assets", "executor"}
    assert len(packages) >= 8


def test_only_build_instantiates_and_only_one_file_calls_gnubg() -> None:
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        assert "instantiate(" not in text or name == "build.py", name
        tree = ast.parse(text)
        found = {alias.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
        found |= {str(n.module).split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not found & {"gnubg", "gnubg_nn"} or name == "engine/gnubg.py", name


def run(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def heavy(statement: str) -> str:
    """The output of ``statement`` and, last, which heavy packages it imported."""
    heavies = {"torch", "lightning", "matplotlib", "wandb"}
    return run(f"{statement}\nimport sys\nprint(sorted({{m.split('.')[0] for m in sys.modules}} & {heavies!r}))")


LINUX_ONLY = {"sched_getaffinity", "sched_setaffinity", "pidfd_open", "memfd_create", "eventfd", "getrandom", "posix_fadvise", "O_TMPFILE"}


def test_what_only_linux_has_is_asked_for_first() -> None:
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr in LINUX_ONLY:
                assert f'hasattr(os, "{node.attr}")' in text, f"{path.name}, line {node.lineno}: os.{node.attr} is missing on macOS"


def test_light_modules_import_no_torch() -> None:
    env = sorted(f"raccoon.env.{path.stem}" for path in (ROOT / "env").glob("*.py") if path.stem not in ("__init__", "game_wrapper"))
    statement = "\n".join(f"import {name}" for name in [f"raccoon.{name}" for name in TORCH_FREE] + ["raccoon.env", *env, "raccoon.cli"])
    assert heavy(statement).strip() == "[]"


@pytest.mark.parametrize("kind", ["train", "evaluate"])
def test_help_is_quick_and_imports_no_torch(kind: str) -> None:
    command = f"import sys; sys.argv = ['{kind}.py', '--help']; from raccoon.cli.{kind} import main; main()"
    assert heavy(command).strip().endswith("[]")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # processor time: what else the machine does is not start-up time
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert "Groups and options" in out
    assert spent < 1.0, f"--help took {spent:.2f} s"


def test_completion_imports_no_torch() -> None:
    code = (
        "import os, sys\nsys.argv = ['train.py', '-sc', 'query=bash']\n"
        "os.environ['COMP_LINE'] = 'train.py model=res'; os.environ['COMP_POINT'] = str(len(os.environ['COMP_LINE']))\n"
        "from raccoon.cli.train import main\nmain()"
    )
    out = heavy(code)
    assert "model=resnet2x32" in out
    assert out.strip().endswith("[]")

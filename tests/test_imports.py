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
    ["aliases", "lazy", "rng", "progress", "cube_rules", "flatten"],
    ["contracts", "versions", "plugins"],
    ["assets", "checks", "files", "stats"],
    ["executor", "report"],
    ["config"],
    ["runs"],
    ["env"],
    ["model"],
    ["engine"],
    ["cube"],
    ["search"],
    ["play"],
    ["matches"],
    ["protocol", "serve"],
    ["data"],
    ["eval"],
    ["export"],
    ["train"],
    ["dashboard"],
    ["cli"],
    ["api"],
    ["testing"],
]
"""From the ground up: a package or module imports what stands in a lower row, nothing of its own row or above."""
RANK = {package: rank for rank, packages in enumerate(LAYERS, start=1) for package in packages}
# Modules not in LAYERS (contracts, rng, files, ..) have rank 0: everybody may import them, they import none of the others.
TORCH_FREE = [
    *("aliases", "assets", "contracts", "executor", "files", "lazy", "plugins", "progress", "report", "rng", "stats", "versions"),
    *("config.instantiate", "engine.network.onnx", "runs.folder"),
]
TORCH_FREE += [f"api.{name}" for name in ("analysis", "loading", "measuring", "training")]


def package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def name_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """(module, imported module of the library) of every import below ``root``; late ones and those for types alone included."""
    modules = {name_of(path, root) for path in root.rglob("*.py")}
    for path in sorted(root.rglob("*.py")):
        module = name_of(path, root)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative import"
                names = [name if (name := f"{node.module}.{alias.name}") in modules else str(node.module) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            yield from ((module, name) for name in names if name.split(".")[0] == root.name)


def back_arrows(root: Path = ROOT) -> list[str]:
    """Imports of something of the same or a higher row."""
    wrong = []
    for module, imported in imports(root):
        a, b = package(module), package(imported)
        if a != b and a and b and RANK[b] >= RANK[a]:
            wrong.append(f"{module} imports {imported}")
    return wrong


def circles(root: Path = ROOT) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others, or themselves."""
    arrows: dict[str, set[str]] = {}
    for module, imported in imports(root):
        arrows.setdefault(module, set()).add(imported)
    reached: dict[str, set[str]] = {}
    for start in arrows:
        found, waiting = set(), [start]
        while waiting:
            new = arrows.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        reached[start] = found
    groups = {tuple(sorted(b for b in found if a in reached.get(b, ()))) for a, found in reached.items() if a in found}
    return [list(group) for group in sorted(groups)]


def test_imports_point_one_way() -> None:
    assert not back_arrows()


def test_no_modules_import_each_other() -> None:
    assert not circles()


def test_back_arrows_and_circles_are_seen(tmp_path: Path) -> None:
    """Also where they are for types alone, late, or through a third module."""
    root = tmp_path / "raccoon"
    texts = {
        "cube/a.py": "def f() -> None:\n    from raccoon.search import tree\n",
        "search/tree.py": "from raccoon.search.one import x\n",
        "search/one.py": "import raccoon.search.two\n",
        "search/two.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from raccoon.search import tree\n",
        "engine/alone.py": "from raccoon.env import board\n",
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert back_arrows(root) == ["raccoon.cube.a imports raccoon.search.tree"]
    assert circles(root) == [["raccoon.search.one", "raccoon.search.tree", "raccoon.search.two"]]


def test_every_package_and_module_has_a_place_in_the_order() -> None:
    names = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    assert names == set(RANK)


def test_no_folder_is_a_flat_drawer() -> None:
    """A file list is read at a glance; ``docs/architecture.md`` has the map."""
    for folder in (ROOT, *(path for path in ROOT.rglob("*") if path.is_dir())):
        files = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(files) <= 12, f"{folder.relative_to(ROOT)} has {len(files)} modules"


def test_only_build_instantiates_and_only_one_file_calls_gnubg() -> None:
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        assert "instantiate(" not in text or name == "config/instantiate.py", name
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

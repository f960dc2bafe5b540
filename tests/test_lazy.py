"""Facades: the public names, pinned in ``golden/public_names.txt``. A name that is taken away or renamed breaks somebody's code."""

from __future__ import annotations

import ast
import importlib
import types
from pathlib import Path

import pytest

import raccoon

ROOT = Path(raccoon.__file__).parent
STUBS = sorted(ROOT.rglob("__init__.pyi"))
GOLDEN = Path(__file__).parent / "golden" / "public_names.txt"


def package_of(stub: Path) -> str:
    return ".".join(stub.parent.relative_to(ROOT.parent).parts)


def homes(stub: Path) -> dict[str, str]:
    """Each name of a facade and the module that defines it."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    return {alias.name: str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_the_public_names_are_these() -> None:
    """Write the file anew, ``python -m tests.test_lazy``, when a name is added; take none away."""
    assert GOLDEN.read_text(encoding="utf-8").splitlines() == listed()


def listed() -> list[str]:
    return [f"{package_of(stub)}.{name}" for stub in STUBS for name in sorted(homes(stub))]


@pytest.mark.parametrize("stub", STUBS, ids=package_of)
def test_a_facade_offers_what_its_stub_lists(stub: Path) -> None:
    package = package_of(stub)
    facade = importlib.import_module(package)
    assert dir(facade) == sorted(facade.__all__) == sorted(homes(stub))
    for name, module in homes(stub).items():
        home = importlib.import_module(module)
        assert getattr(facade, name) is getattr(home, name)
        assert name in home.__all__
        assert not isinstance(getattr(facade, name), types.ModuleType), "a module of that name hides it"
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = facade.nothing


def test_every_package_has_a_facade() -> None:
    """Rooms inside packages may do without; what they offer is on the facade of the package."""
    eager = {"assets", "dashboard", "executor", "api", "serve"}
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} - eager == {stub.parent.name for stub in ROOT.glob("*/__init__.pyi")}


if __name__ == "__main__":
    GOLDEN.write_text("".join(f"{name}\n" for name in listed()), encoding="utf-8")

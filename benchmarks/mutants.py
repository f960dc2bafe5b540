"""How many small faults the tests find: ``python -m benchmarks.mutants [--count 40] [--seed 1] [--minutes 20] [FILES]``.

Draws faults (see ``mutations.py``) from the core packages, or from FILES, puts each into a copy of the checkout in a temporary
folder, and runs the fast tests that name the module: the nearest first, and where they notice nothing all the others. A fault that
no test notices has survived, and is printed: either a test is missing, or the change makes no difference. The checkout itself is
never written to.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.mutations import Mutant, mutants, numba_compiled

__all__ = ["fitting_tests", "main"]

ROOT = Path(__file__).parents[1]
CORE = ("cube", "data", "engine", "env", "executor", "play", "search")
_BUDGET_S = 15.0  # processor time of the tests for one fault, about; the clock says nothing on a busy machine
_DEAR_S = 300.0  # of one test file that is run because nearer ones noticed nothing
_TIMED_OUT = -signal.SIGXCPU
_COPIED = ("raccoon", "tests", "conf", "benchmarks", "docs", "sweeps", "pyproject.toml", "README.md", "CHANGELOG.md", "Makefile")
_LIBRARIES = ("numpy", "numba", "scipy.stats", "torch", "lightning.pytorch", "hydra", "omegaconf", "pytest", "pyspiel")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sample and print the score; 0 unless the tests fail without any fault."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="sources to change (default: the core packages)")
    parser.add_argument("--count", type=int, default=40, help="faults to try")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--minutes", type=float, default=20.0, help="stop drawing after this time")
    given = parser.parse_args(arguments)
    files = [path.resolve().relative_to(ROOT) for path in given.files] or sorted(
        path.relative_to(ROOT) for package in CORE for path in (ROOT / "raccoon" / package).glob("*.py")
    )
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that the copy goes, too
    every = [one for path in files for one in mutants(path)]
    drawn = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(drawn)} of the {len(every):,} faults of {len(files)} files, seed {given.seed}", flush=True)
    end = time.monotonic() + 60 * given.minutes
    _preload()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="raccoon-mutants-") as folder:
        bench = _Bench(Path(folder))
        for number, one in enumerate(drawn, start=1):
            if time.monotonic() > end:
                print(f"stopped after {given.minutes:g} minutes")
                break
            verdict = bench.verdict(one)
            verdicts[verdict] += 1
            print(f"{number:3d} {verdict:9s} {one}", flush=True)
    tried = verdicts.total() - verdicts["untested"]
    found = verdicts["found"] + verdicts["timed out"]
    print(f"score: {found} of {tried} found ({found / max(tried, 1):.0%}); " + ", ".join(f"{v} {k}" for k, v in sorted(verdicts.items())))
    return 0


@dataclass
class _Bench:
    """A copy of the checkout in ``folder``, how long each test file takes there without a fault, and which of the dear ones pass."""

    folder: Path
    seconds: dict[Path, float] = field(default_factory=dict)
    sound: dict[Path, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name)
            else:
                shutil.copy2(source, self.folder / name)

    def verdict(self, one: Mutant) -> str:
        """``found``, ``timed out``, ``survived``, or ``untested`` when no test file names the module."""
        fitting = fitting_tests(one.path)
        tests = self._affordable(fitting)
        if not fitting:
            return "untested"
        limit = 20.0 + 4 * sum(self.seconds[path] for path in tests)
        if numba_compiled(one.path):
            limit += 60.0
        self._put(one)
        status = self._pytest(tests, limit) if tests else 0
        suspects = [] if status else [path for path in fitting if path not in tests and self._pytest([path], _DEAR_S) not in (0, 5)]
        shutil.rmtree(self.folder / "raccoon")
        shutil.copytree(ROOT / "raccoon", self.folder / "raccoon")
        if any(self._passes(path) for path in suspects):
            return "found"
        return {0: "survived", _TIMED_OUT: "timed out"}.get(status, "found")

    def _passes(self, path: Path) -> bool:
        """Whether a test file passes without a fault."""
        if path not in self.sound:
            self.sound[path] = self._pytest([path], _DEAR_S) in (0, 5)
        return self.sound[path]

    def _put(self, one: Mutant) -> None:
        (self.folder / one.path).write_bytes(one.source())
        if numba_compiled(one.path):  # kernels of other files have this one built in
            for kept in (self.folder / "raccoon").rglob("*.nb[ic]"):
                if f"raccoon.{kept.parent.parent.name}.{kept.name.split('.')[0]}" in _users(_module(one.path)):
                    kept.unlink()

    def _affordable(self, paths: Sequence[Path]) -> list[Path]:
        """The first of the test files that together take the budget, at least one; those that fail without a fault are left out."""
        chosen: list[Path] = []
        for path in paths:
            if path not in self.seconds:
                before = _children_s()
                passed = self._pytest([path], 2 * _BUDGET_S) in (0, 5)  # 5: all of its tests are slow
                self.seconds[path] = _children_s() - before if passed else float("inf")
            spent = sum(self.seconds[one] for one in chosen)
            if self.seconds[path] < float("inf") and (not chosen or spent + self.seconds[path] <= _BUDGET_S):
                chosen.append(path)
            if spent > _BUDGET_S / 3:
                break
        return chosen

    def _pytest(self, tests: Sequence[Path], limit: float) -> int:
        """Exit status of the tests in a fork of this process, in which the large libraries are loaded already."""
        child = multiprocessing.get_context("fork").Process(target=_run_tests, args=(self.folder, [*map(str, tests)], int(limit) + 1))
        child.start()
        child.join(20 * limit)
        if child.is_alive():
            child.kill()
            child.join()
            return _TIMED_OUT
        return child.exitcode or 0


def _run_tests(folder: Path, tests: list[str], cpu_s: int) -> None:
    """In a fork."""
    import pytest

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder), "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / ".hypothesis")}
    sys.path[:] = [str(folder), *(path for path in sys.path if Path(path or ".").resolve() != ROOT)]
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Torch loads hypothesis
    os._exit(pytest.main([*quiet, "-m", "not slow", *tests]))


def _preload() -> None:
    """What no fault is in: a second or more for every fork that need not load it. Raccoon itself must not be there yet."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in (
        "numpy",
        "numba",
        "scipy.stats",
        "torch",
        "lightning.pytorch",
        "hydra",
        "omegaconf",
        "pytest",
        "hypothesis",
        "pyspiel",
        "rich",
    ):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "raccoon" not in sys.modules


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def fitting_tests(path: Path) -> list[Path]:
    """The test files for a module (relative to the checkout): those that name it, or else those that name what imports it.

    Files called after the module come first, then the one called after its package, then those of its package, then shorter ones.
    """
    module = _module(path)
    found = [test for test, names in _named().items() if module in names]
    if not found:
        users = _users(module)
        found = [test for test, names in _named().items() if names & users and test.parts[1] == path.parts[1]]
    package = path.parts[1]

    def order(test: Path) -> tuple[bool, bool, bool, int]:
        return path.stem not in test.stem, test.stem != f"test_{package}", package not in str(test), (ROOT / test).stat().st_size

    return sorted(found, key=order)


@cache
def _named() -> dict[Path, frozenset[str]]:
    """The raccoon modules that each test file names: imported, as a home of an imported name, or in a text."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path.relative_to(ROOT): frozenset(_names(path)) for path in paths}


@cache
def _users(module: str) -> frozenset[str]:
    """The modules that import ``module`` and itself."""
    paths = sorted((ROOT / "raccoon").rglob("*.py"))
    return frozenset({module, *(_module(path.relative_to(ROOT)) for path in paths if module in _names(path))})


@cache
def _names(path: Path) -> frozenset[str]:
    return frozenset(_read_names(path.read_text(encoding="utf-8")))


def _read_names(text: str) -> Iterator[str]:
    for dotted in re.findall(r"raccoon(?:\.\w+)+", text):
        parts = dotted.split(".")
        yield from (".".join(parts[:end]) for end in range(2, len(parts) + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "raccoon":
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
                yield _homes(str(node.module)).get(alias.name, "")


@cache
def _homes(package: str) -> dict[str, str]:
    """The module that defines each name of a package, whose facade hands it on."""
    found = {}
    for path in sorted((ROOT / package.replace(".", "/")).glob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = _module(path.relative_to(ROOT))
    return found


if __name__ == "__main__":
    sys.exit(main())

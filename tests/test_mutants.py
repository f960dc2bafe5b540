"""The faults that ``make mutants`` puts into sources: each is another program, and none is in what tests need not notice."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.mutants import ROOT, fitting_tests
from benchmarks.mutations import mutants, numba_compiled

SOURCE = '''
import logging
from raccoon.env.kernels import kernel
log = logging.getLogger(__name__)

@kernel
def f(a: int = 3, *, b: bool = True) -> int | None:
    """Texts + stay."""
    log.info("%d", a + 1)
    if a < 2 and not b:
        raise ValueError(f"{a - 1}")
    a += 5
    g(-a)
    return None
'''


def test_faults_of_a_source(tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text(SOURCE)
    found = [(one.line, one.before, one.text) for one in mutants(path)]
    assert found == [
        (10, "a < 2", "(a <= 2)"),
        (10, "a < 2 and not b", "(a < 2 or not b)"),
        (10, "2", "(3)"),
        (10, "not b", "(b)"),
        (12, "a += 5", "a -= 5"),
        (12, "a += 5", "pass"),
        (12, "5", "(6)"),
        (13, "g(-a)", "pass"),
        (13, "-a", "(a)"),
    ]
    assert numba_compiled(path)
    for one in mutants(path):
        changed = one.source().decode().splitlines()
        ast.parse(one.source())
        assert [n for n, (a, b) in enumerate(zip(SOURCE.splitlines(), changed, strict=True), start=1) if a != b] == [one.line]
    assert path.read_text() == SOURCE


def test_fitting_tests_name_the_module() -> None:
    assert fitting_tests(Path("raccoon/play/dice.py"))[0] == Path("tests/play/test_dice.py")
    assert fitting_tests(Path("raccoon/executor/processes.py"))[0] == Path("tests/executor/test_executor.py")
    assert all((ROOT / test).is_file() for test in fitting_tests(Path("raccoon/rng.py")))

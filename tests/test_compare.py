"""``python -m benchmarks compare``: two checkouts side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

import raccoon
from benchmarks import compare

ROOT = Path(raccoon.__file__).parents[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give python -m benchmarks compare FOLDER"),
        ([str(ROOT), "rounds=1"], "rounds=N, 2 or more"),
        ([str(ROOT / "tests")], "no checkout of Raccoon"),
        ([str(ROOT), "no such path"], "there are plays of a roll; "),
    ],
)
def test_bad_arguments_are_refused(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(arguments) == 2
    assert told in capsys.readouterr().err


def test_only_a_path_that_is_slower_beyond_doubt_counts(capsys: pytest.CaptureFixture[str]) -> None:
    fast = [([1.01, 1.02], [1.0, 1.0])] * 3
    slow = [([1.05, 1.06], [1.0, 1.0])] * 3
    doubtful = [([1.0], [1.0]), ([1.3], [1.0]), ([0.9], [1.0])]
    assert compare.report(ROOT, {"fast": fast, "doubtful": doubtful}) == 0
    assert compare.report(ROOT, {"fast": fast, "slow": slow}) == 1
    assert "1.055" in capsys.readouterr().out


@pytest.mark.slow
def test_a_checkout_beside_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([str(ROOT), "rounds=2", "best of each row"]) == 0
    assert "best of each row" in capsys.readouterr().out

"""The first start on a machine says that it compiles; later ones say nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raccoon.cli.program.first_use import is_compiled, notice
from raccoon.env.board import START
from raccoon.env.movegen import afterstates


def test_an_empty_cache_is_told_on_stderr_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notice(tmp_path)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "compiling" in captured.err
    assert captured.err.count("\n") == 1


def test_nothing_is_said_once_turns_were_generated(capsys: pytest.CaptureFixture[str]) -> None:
    afterstates(START[None], np.array([[3, 1]]))
    assert is_compiled()
    notice()
    assert capsys.readouterr() == ("", "")

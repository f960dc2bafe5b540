from pathlib import Path

from raccoon.cli.program.composing import compose
from raccoon.testing import check_executor


def test_executor(tmp_path: Path) -> None:
    check_executor(compose("evaluate", ["executor=my_renewed"]).executor, tmp_path)

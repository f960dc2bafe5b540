from pathlib import Path

from raccoon.cli.program.composing import compose
from raccoon.testing import check_evaluator


def test_evaluator(tmp_path: Path) -> None:
    check_evaluator(compose("evaluate", ["evaluator=my_lengths", "debug=fast"]).evaluator, tmp_path)

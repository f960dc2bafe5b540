from pathlib import Path

from raccoon.cli.program.composing import compose
from raccoon.testing import check_data


def test_data(tmp_path: Path) -> None:
    check_data(compose("train", ["data=my_bearoffs", "debug=fast", f"paths.data_dir={tmp_path}"]).data)

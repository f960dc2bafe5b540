from pathlib import Path

from raccoon.cli.program.composing import compose
from raccoon.testing import check_callback, check_logger


def test_callback() -> None:
    check_callback(compose("train", ["callbacks=my_norm"]).callbacks.my_norm)


def test_logger(tmp_path: Path) -> None:
    check_logger(compose("train", ["logger=my_jsonl", f"paths.run_dir={tmp_path}"]).logger.my_jsonl)
    assert '"check/loss": 1.0' in (tmp_path / "my_jsonl.jsonl").read_text(encoding="utf-8")

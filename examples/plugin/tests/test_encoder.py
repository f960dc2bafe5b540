from raccoon.cli.program.composing import compose
from raccoon.testing import check_encoder

from my_package.show import show


def test_encoder() -> None:
    cfg = compose("train", ["encoder=my_race"])
    check_encoder(cfg.encoder)
    assert "my contact / 167" in show()

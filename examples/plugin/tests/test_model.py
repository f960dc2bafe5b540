import pytest

from raccoon.cli.program.composing import compose
from raccoon.testing import check_model


@pytest.mark.parametrize("options", [["model=my_dense"], ["model=mlp_small", "model/head=my_chain"]])
def test_model(options: list[str]) -> None:
    cfg = compose("train", options)
    check_model(cfg.model, cfg.encoder)

from raccoon.config.instantiate import build, plain
from raccoon.cli.program.composing import compose
from raccoon.model import build_net
from raccoon.testing import check_trainer


def test_trainer() -> None:
    cfg = compose("train", ["trainer=my_huber", "model=mlp_small"])
    check_trainer(cfg.trainer, build_net(plain(cfg.model), build(cfg.encoder)))

from raccoon.cli.program.composing import compose
from raccoon.testing import check_engine


def test_engine() -> None:
    check_engine(compose("evaluate", ["player=gnubg0", "engine@player.engine=my_pips"]).player.engine)

from raccoon.cli.program.composing import compose
from raccoon.testing import check_cube, check_player


def test_cube() -> None:
    cfg = compose("evaluate", ["cube=my_by_length", "player=gnubg0"])
    check_cube(cfg.cube)
    check_player(cfg.player)

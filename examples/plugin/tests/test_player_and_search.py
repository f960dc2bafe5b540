from raccoon.cli.program.composing import compose
from raccoon.testing import check_player, check_search


def test_search() -> None:
    check_search(compose("evaluate", ["search=my_reply"]).search)


def test_players() -> None:
    cfg = compose("evaluate", ["player=my_pips", "search=my_reply", "opponent=my_hitter"])
    check_player(cfg.player)
    check_player(cfg.opponent)

"""What players think of two positions: python examples/analyse.py"""

from __future__ import annotations

import raccoon

OPENING = "4HPwATDgc/ABMA"
BEAR_OFF = "XGID=--BBCCCAA-------aa-dccba--:0:0:1:00:0:0:0:0:10"


def main(player: str = "default", search: str = "expectimax") -> raccoon.Analysis:
    loaded = raccoon.load_player(player, search=search)

    print(f"{len(raccoon.legal_plays(OPENING, dice=31))} plays of the opening 3-1; the best three:")
    plays = raccoon.analyse(OPENING, loaded, dice=31).plays
    for play in plays[:3]:
        print(f"  {play.move:14} {play.equity:+.3f} {play.difference:+.3f}")

    before_the_roll = raccoon.analyse(BEAR_OFF, loaded)
    print(before_the_roll)
    return before_the_roll


if __name__ == "__main__":
    main()

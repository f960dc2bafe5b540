"""An arena with a player of your own: python examples/arena.py

``Runner`` plays whatever leaves it the fewest pips. It meets another player without and with the cube.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import raccoon
from raccoon.contracts import Boards, Cubes, Turns
from raccoon.env import pips


class Runner:
    """Runs, never doubles, takes everything."""

    name = "runner"

    def choose(self, turns: Turns) -> NDArray[np.int64]:
        left = pips(turns.children)[:, 0]  # the mover is in slot 0 of the children
        return np.array([np.argmin(left[start:stop]) for start, stop in zip(turns.offsets, turns.offsets[1:], strict=False)])

    def double(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        return np.zeros(len(boards), bool)

    def take(self, boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
        return np.ones(len(boards), bool)


def main(opponent: str = "gnubg0", games: int = 200) -> raccoon.Report:
    for cube in (False, True):
        report = raccoon.play_arena(Runner(), opponent, games=games, cube=cube)
        points = report.figures["ppg_vr"]
        print(f"{report.player} v {report.opponent}, {'cube' if cube else 'no cube'}: {points.value:+.3f} points a game over {games} games")
    return report


if __name__ == "__main__":
    main()

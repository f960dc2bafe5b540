"""What a player believes the cube to be worth: Janowski's model over outcome distributions, for rows of any cube, and exact last rolls.

Equities are in points per unit of the present cube to the side on roll. In match play they are match winning chances on
the scale -1 (the match is lost) to 1 (won), see ``raccoon.cube.match_equity``; only their order matters to a decision.
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from raccoon.checks import flag, number, quoted
from raccoon.contracts import Boards, Cubes, RaccoonError
from raccoon.cube import match_equity
from raccoon.cube.choice import OWNERS, best_of, with_beavers
from raccoon.cube.exact_bearoff import CubefulBearoff, last_rolls
from raccoon.cube.janowski import (
    X_CONTACT,
    X_RACE,
    CubeEquities,
    cl2cf_money,
    cube_equities,
    cube_index,
    probs6_to_cumulative5,
)

__all__ = ["OWNERS", "Janowski", "Moves", "best_of", "with_beavers"]

Moves = Literal["cubeful", "cubeless"]


class Janowski:
    """Rick Janowski's model with cube-life index ``x_contact`` while there is contact and ``x_race`` after it.

    ``bearoff``: the last rolls come from the table of ``raccoon.cube.exact_bearoff.last_rolls``, as equities in money play, at scores
    as the chances that the model reads. ``moves``: plays are ranked by ``cubeful`` equity, or ``cubeless`` as if there were no
    cube; doubles and takes are by the model either way. ``doubles: false``: never doubles, takes whatever it is offered. Raises
    RaccoonError naming a key of ``cube.``.
    """

    renamed: ClassVar[Mapping[str, str]] = {"turns": "doubles"}

    def __init__(
        self,
        x_contact: float = X_CONTACT,
        x_race: float = X_RACE,
        bearoff: bool = True,
        moves: Moves = "cubeful",
        doubles: bool = True,
    ) -> None:
        for key, x in (("x_contact", x_contact), ("x_race", x_race)):
            number(f"cube.{key}", x, "a cube-life index from 0 (dead) to 1 (live)", most=1.0)
        if moves not in ("cubeful", "cubeless"):
            raise RaccoonError(f"cube.moves={quoted(moves)}: choose cubeful or cubeless")
        for key, value in (("bearoff", bearoff), ("doubles", doubles)):
            flag(f"cube.{key}", value)
        self.x_contact, self.x_race = float(x_contact), float(x_race)
        self.moves: Moves = moves
        self.bearoff, self.doubles = bearoff, doubles
        self.suffix = "".join(
            [
                self._index_name(),
                "" if bearoff else "+nobearoff",
                "" if moves == "cubeful" else "+cubeless",
                "" if doubles else "+nodoubles",
            ]
        )

    def _index_name(self) -> str:
        published = (self.x_contact, self.x_race) == (X_CONTACT, X_RACE)
        return "" if published else f"+x{self.x_contact:g}/{self.x_race:g}"

    def index(self, boards: Boards) -> NDArray[np.float64]:
        """``float64[N]``: cube-life index of each board."""
        return cube_index(boards, self.x_contact, self.x_race)

    def exact(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: are money equities of the board exact? A search does not look below such boards."""
        known = np.zeros(len(boards), bool)
        if found := self._last_rolls(boards):
            known[found[1]] = True
        return known

    def by_owner(self, probs6: NDArray[np.floating], boards: Boards, jacoby: bool = False) -> NDArray[np.float64]:
        """``float64[N, 3]``: equity of not doubling now, in money play, with the cube of each of ``OWNERS``."""
        five, x = probs6_to_cumulative5(probs6), self.index(boards)
        out = np.stack([cl2cf_money(five, owner, x, jacoby) for owner in OWNERS], axis=1)
        if found := self._last_rolls(boards):
            table, rows = found
            out[rows] = table.no_double(boards[rows])
        return out

    def no_double(self, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: equity to the side on roll when it does not double now (or may not)."""
        if cubes.away is not None:
            return match_equity.no_double(probs6_to_cumulative5(self.chances(probs6, boards)), self.index(boards), cubes)
        out = cl2cf_money(probs6_to_cumulative5(probs6), cubes.owner, self.index(boards), cubes.jacoby())
        if found := self._last_rolls(boards):
            table, rows = found
            out[rows] = table.equities(boards[rows], cubes.take(rows)).nd
        return out

    def equities(self, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> CubeEquities:
        """``(nd, dt, dp)`` to the side on roll, all in the unit of the cube before doubling, whether or not the side may double."""
        if cubes.away is not None:
            return match_equity.equities(probs6_to_cumulative5(self.chances(probs6, boards)), self.index(boards), cubes)
        nd, dt, dp = cube_equities(probs6_to_cumulative5(probs6), cubes.owner, self.index(boards), cubes.jacoby())
        dt = with_beavers(dt, cubes)
        if found := self._last_rolls(boards):
            table, rows = found
            nd[rows], dt[rows], dp[rows] = table.equities(boards[rows], cubes.take(rows))
        return CubeEquities(nd, dt, dp)

    def optimal(self, probs6: NDArray[np.floating], boards: Boards, cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: equity to the side on roll, which doubles or not as is best for it, the other side answering."""
        return best_of(self.equities(probs6, boards, cubes), cubes.may_double())

    def finished(self, points: NDArray[np.floating], cubes: Cubes) -> NDArray[np.float64]:
        """``float64[N]``: equity of a game that ended with cubeless ``points`` (1, 2, 3 or minus) to the side on roll of ``cubes``."""
        if cubes.away is not None:
            return match_equity.after(points * cubes.value, cubes)
        return cubes.game_points(points).astype(np.float64)

    def _last_rolls(self, boards: Boards) -> tuple[CubefulBearoff, NDArray[np.int64]] | None:
        return last_rolls(boards) if self.bearoff else None

    def chances(self, probs6: NDArray[np.floating], boards: Boards) -> NDArray[np.float64]:
        """``float64[N, 6]``: ``probs6``, exact where they can be."""
        out = np.array(probs6, np.float64)
        if found := self._last_rolls(boards):
            table, rows = found
            out[rows] = 0.0
            out[rows, 0] = np.clip((1.0 + table.cubeless(boards[rows])) / 2.0, 0.0, 1.0)
            out[rows, 3] = 1.0 - out[rows, 0]
        return out

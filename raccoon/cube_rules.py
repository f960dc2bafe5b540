"""The records of the doubling cube that every layer shares; ``raccoon.contracts`` gives them out with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["CENTRED", "OPPONENT", "OWNED", "OWNER_NAMES", "CubeEquities", "CubeRules", "Cubes", "jacoby_active"]

CENTRED, OWNED, OPPONENT = 0, 1, -1
"""Cube owner seen from the side on roll."""
OWNER_NAMES = {CENTRED: "centered", OWNED: "player", OPPONENT: "opponent"}
"""What files and programs call the owners, seen from the side on roll, which is the player."""


def jacoby_active(owner: ArrayLike, rule: ArrayLike) -> NDArray[np.bool_]:
    """``bool[...]``: is the Jacoby rule in force? It is while the cube is centred (``owner``), in a game that has the ``rule``."""
    return (np.asarray(owner) == CENTRED) & np.asarray(rule, bool)


@dataclass(frozen=True)
class CubeRules:
    """How the cube is played. ``jacoby`` (money): gammons count one point while the cube is centred. ``beavers`` (money): the
    side that takes a double may redouble at once and keep the cube. ``cap``: the highest value of the cube."""

    jacoby: bool = False
    beavers: bool = False
    cap: int = 1024

    def flags(self) -> str:
        """The rules of money games in words."""
        return ", ".join(f"{name} {'on' if on else 'off'}" for name, on in (("Jacoby", self.jacoby), ("beavers", self.beavers)))


@dataclass(frozen=True)
class Cubes:
    """Cube of each row, seen from the side on roll: ``value int32[N]``, ``owner int8[N]`` (CENTRED, OWNED, OPPONENT).

    ``rules``: None where no cube is in play (cubeless games; value and owner are then only carried along). Match play:
    ``away int16[N, 2]``, the points that the side on roll and the other side still need, and ``crawford bool[N]``; None in
    money games.
    """

    value: NDArray[np.int32]
    owner: NDArray[np.int8]
    rules: CubeRules | None = None
    away: NDArray[np.int16] | None = None
    crawford: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.value)

    @classmethod
    def centred(cls, n: int, rules: CubeRules | None = None) -> Cubes:
        """``n`` centred cubes at 1, of money games."""
        return cls(np.ones(n, np.int32), np.zeros(n, np.int8), rules)

    @classmethod
    def joined(cls, parts: Sequence[Cubes]) -> Cubes:
        """The rows of all ``parts`` (at least one, all under the same rules)."""
        away, crawford = ([getattr(part, name) for part in parts] for name in ("away", "crawford"))
        return cls(
            np.concatenate([part.value for part in parts]),
            np.concatenate([part.owner for part in parts]),
            parts[0].rules,
            None if parts[0].away is None else np.concatenate(away),
            None if parts[0].crawford is None else np.concatenate(crawford),
        )

    def take(self, rows: Any) -> Cubes:
        """The cubes of the given rows (index array, mask or slice)."""
        away = None if self.away is None else self.away[rows]
        crawford = None if self.crawford is None else self.crawford[rows]
        return Cubes(self.value[rows], self.owner[rows], self.rules, away, crawford)

    def under(self, rules: CubeRules | None) -> Cubes:
        """The same cubes under other rules."""
        return Cubes(self.value, self.owner, rules, self.away, self.crawford)

    def flipped(self) -> Cubes:
        """The same cubes seen by the other side, when it is on roll."""
        return Cubes(self.value, -self.owner, self.rules, None if self.away is None else self.away[:, ::-1], self.crawford)

    def taken(self) -> Cubes:
        """The cubes after the side on roll has doubled and the other has taken, seen from the same side."""
        return replace(self, value=2 * self.value, owner=np.full(len(self), OPPONENT, np.int8))

    def may_double(self) -> NDArray[np.bool_]:
        """``bool[N]``: may the side on roll double? Not without a cube in play, beyond the cap, with the other side's cube, in a
        Crawford game, or (match play) when a plain win at the present cube is enough for the match."""
        if self.rules is None:
            return np.zeros(len(self), bool)
        allowed = (self.owner != OPPONENT) & (self.value <= self.rules.cap // 2)
        if self.away is not None:
            allowed &= self.value < self.away[:, 0]
        return allowed if self.crawford is None else allowed & ~self.crawford

    def may_beaver(self) -> NDArray[np.bool_]:
        """``bool[N]``: may the side that is doubled from this cube redouble at once and keep it? In money games under rules with
        beavers, while the cap leaves room for both turns."""
        if self.rules is None or not self.rules.beavers or self.away is not None:
            return np.zeros(len(self), bool)
        return self.value <= self.rules.cap // 4

    def jacoby(self) -> NDArray[np.bool_]:
        """``bool[N]``: is the Jacoby rule in force? Not in match play."""
        return jacoby_active(self.owner, self.rules is not None and self.rules.jacoby and self.away is None)

    def game_points(self, points: NDArray[Any]) -> NDArray[Any]:
        """``points [N]`` (1, 2, 3 or minus, without the cube) of games that have ended with these cubes: gammons count one point where
        the Jacoby rule is in force."""
        return np.where(self.jacoby(), np.sign(points), points)


class CubeEquities(NamedTuple):
    """To the side on roll, ``float64[N]`` each: ``nd`` not doubling now, ``dt`` double and take (the doubled cube), ``dp`` double
    and pass. In points per unit of the cube before doubling; in match play match winning chances on the scale -1 to 1."""

    nd: NDArray[np.float64]
    dt: NDArray[np.float64]
    dp: NDArray[np.float64]

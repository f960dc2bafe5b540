"""The places of the cube that a cubeful tree tells apart, and what each is worth: its columns.

Reply and cube decision depend on where the cube is, so a tree holds an equity of *not doubling now* for every place that
the cube can come to. In money play these are three, its owners: all is in points per unit of the cube, and a taken double is twice
the third. At a match score the value counts too: a place is a level (how often the cube has been turned below the root)
and an owner, and equities are match equities.

Both kinds say what leaves and finished games are worth, and what a node is worth to the side that moved there, its
opponent doubling where that is allowed and best, and itself answering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import OPPONENT, Boards, CubeEquities, CubeModel, Cubes, ExactCubeModel
from raccoon.cube.choice import OWNERS, best_of, with_beavers

__all__ = ["Places", "places_of", "told_apart"]

_FOR_OTHER_SIDE = [OWNERS.index(-owner) for owner in OWNERS]
_Floats = NDArray[np.float64]


class Places(Protocol):
    """Places of the cube of N boards, seen from the side on roll: P columns."""

    def take(self, rows: Any) -> Places:
        """Those of the given boards (index array, mask or slice)."""
        ...

    def below(self) -> Places:
        """Those of the boards after a turn of each board: the other side is on roll."""
        ...

    def scores(self) -> NDArray[np.int64] | None:
        """``int64[N]``: boards with the same number have the same cube at the same score; None: all have."""
        ...

    def exact(self, boards: Boards) -> NDArray[np.bool_]:
        """``bool[N]``: does the model know the boards' equities exactly, so that nothing needs to be looked at below?"""
        ...

    def leaves(self, probs6: NDArray[np.floating], boards: Boards) -> _Floats:
        """``float64[N, P]``: the model for outcome chances of the side on roll."""
        ...

    def finished(self, points: _Floats) -> _Floats:
        """``float64[N, P]``: games that ended with cubeless ``points`` (1, 2, 3 or minus) to the side on roll."""
        ...

    def to_mover(self, held: _Floats) -> _Floats:
        """``float64[N, Q]``: ``held [N, P]`` made use of by the side on roll, to the other side, in the Q places above ``below()``."""
        ...

    def by_owner(self, held: _Floats) -> _Floats:
        """``float64[N, 3]``: of ``held``, the cube that has not been turned, with each owner of ``OWNERS``, all among the places."""
        ...

    def equities(self, held: _Floats, cubes: Cubes) -> CubeEquities:
        """``(nd, dt, dp)`` of the boards whose cubes are ``cubes``."""
        ...


def places_of(model: CubeModel, cubes: Cubes, owners: Sequence[int] = OWNERS) -> Places:
    """The places that matter to the cube decisions of ``cubes``, priced by ``model``; ``owners`` are all that these cubes have."""
    if cubes.away is None:
        return _Money(model, Cubes.centred(1, cubes.rules))
    return _Match(model, cubes, (*((0, owner) for owner in owners), (1, OPPONENT)))


@dataclass(frozen=True)
class _Money:
    """``OWNERS``, in points per unit of the cube. The cap is left out; ``cube`` is one far below it, under the rules."""

    model: CubeModel
    cube: Cubes

    def take(self, rows: Any) -> _Money:
        return self

    def below(self) -> _Money:
        return self

    def scores(self) -> None:
        return None

    def exact(self, boards: Boards) -> NDArray[np.bool_]:
        return self.model.exact(boards) if isinstance(self.model, ExactCubeModel) else np.zeros(len(boards), bool)

    def leaves(self, probs6: NDArray[np.floating], boards: Boards) -> _Floats:
        return self.model.by_owner(probs6, boards, bool(self.cube.jacoby()[0]))

    def finished(self, points: _Floats) -> _Floats:
        one = self.cube.take(np.zeros(len(points), np.int64))
        held = [replace(one, owner=np.full(len(points), owner, np.int8)) for owner in OWNERS]
        return np.stack([self.model.finished(points, cubes) for cubes in held], axis=1)

    def to_mover(self, held: _Floats) -> _Floats:
        doubled = np.minimum(with_beavers(2.0 * held[:, OPPONENT], self.cube), 1.0)
        value = np.maximum(held, doubled[:, None])
        value[:, OPPONENT] = held[:, OPPONENT]  # the other side's cube: no double to make
        return -value[:, _FOR_OTHER_SIDE]

    def by_owner(self, held: _Floats) -> _Floats:
        return held

    def equities(self, held: _Floats, cubes: Cubes) -> CubeEquities:
        now = held[np.arange(len(held)), cubes.owner]  # see ``OWNERS``
        return CubeEquities(now, with_beavers(2.0 * held[:, OPPONENT], cubes), np.ones(len(held)))


@dataclass(frozen=True)
class _Match:
    """``places``: (level, owner). ``cubes``: of each board, at level 0 (their owners are not looked at)."""

    model: CubeModel
    cubes: Cubes
    places: tuple[tuple[int, int], ...]
    above: tuple[tuple[int, int], ...] = ()

    def take(self, rows: Any) -> _Match:
        return replace(self, cubes=self.cubes.take(rows))

    def below(self) -> _Match:
        under = replace(self, cubes=self.cubes.flipped(), above=self.places)
        places = [(level, -owner) for level, owner in self.places]
        turned = [(level + 1, OPPONENT) for level, owner in places if under.at(level, owner).may_double().any()]
        return replace(under, places=tuple(dict.fromkeys(places + turned)))

    def at(self, level: int, owner: int) -> Cubes:
        """The cubes in that place."""
        return replace(self.cubes, value=self.cubes.value << level, owner=np.full(len(self.cubes), owner, np.int8))

    def scores(self) -> NDArray[np.int64]:
        same = told_apart(replace(self.cubes, owner=np.zeros_like(self.cubes.owner)))
        return np.unique(same, axis=0, return_inverse=True)[1].reshape(-1)

    def exact(self, boards: Boards) -> NDArray[np.bool_]:
        return np.zeros(len(boards), bool)

    def leaves(self, probs6: NDArray[np.floating], boards: Boards) -> _Floats:
        return np.stack([self.model.no_double(probs6, boards, self.at(*place)) for place in self.places], axis=1)

    def finished(self, points: _Floats) -> _Floats:
        return np.stack([self.model.finished(points, self.at(*place)) for place in self.places], axis=1)

    def to_mover(self, held: _Floats) -> _Floats:
        out = np.empty((len(held), len(self.above)))
        for column, (level, owner) in enumerate(self.above):
            cubes = self.at(level, -owner)
            may, now = cubes.may_double(), held[:, self.places.index((level, -owner))]
            out[:, column] = -now
            if may.any():
                turned = held[:, self.places.index((level + 1, OPPONENT))]
                out[:, column] = -best_of(CubeEquities(now, turned, self._passed(cubes)), may)
        return out

    def by_owner(self, held: _Floats) -> _Floats:
        return held[:, [self.places.index((0, owner)) for owner in OWNERS]]

    def equities(self, held: _Floats, cubes: Cubes) -> CubeEquities:
        columns = np.array([self.places.index((0, owner)) for owner in cubes.owner.tolist()], np.intp)
        now = held[np.arange(len(held)), columns]
        return CubeEquities(now, held[:, self.places.index((1, OPPONENT))], self._passed(cubes))

    def _passed(self, cubes: Cubes) -> _Floats:
        return self.model.finished(np.ones(len(cubes)), cubes)


def told_apart(cubes: Cubes) -> NDArray[np.int64]:
    """``int64[N, K]``: all that tells the cubes of two rows apart."""
    columns: list[NDArray[Any]] = [cubes.value, cubes.owner]
    if cubes.away is not None:
        columns += [cubes.away[:, 0], cubes.away[:, 1]]
    if cubes.crawford is not None:
        columns.append(cubes.crawford)
    return np.stack(columns, axis=1).astype(np.int64)

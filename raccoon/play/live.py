"""The games that a match runner has in progress, as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes
from raccoon.env.board import START

__all__ = ["NOBODY", "Live", "Matches", "MoneyGames", "Scoring", "crawford_game"]

NOBODY = -1


@dataclass
class Live:
    """``row`` into the result, ``boards`` with player ``mover`` on roll, ``roll`` played so far in this game; the ``cube``'s
    value and its ``holder`` (player 0 or 1, or ``NOBODY``). Match play: ``number`` of the game within its match, ``score
    int64[N, 2]`` of both players, ``crawford``: this is the Crawford game, ``crawford_played``: it is over."""

    row: NDArray[np.int64]
    boards: NDArray[np.int8]
    mover: NDArray[np.int8]
    roll: NDArray[np.int64]
    cube: NDArray[np.int32]
    holder: NDArray[np.int8]
    number: NDArray[np.int64]
    score: NDArray[np.int64]
    crawford: NDArray[np.bool_]
    crawford_played: NDArray[np.bool_]

    @classmethod
    def start(cls, rows: NDArray[Any], movers: NDArray[np.int8], length: int | None) -> Live:
        """First games of ``rows``, opened by players ``movers``. ``length``: of the matches, None: money."""
        n = len(rows)
        return cls(
            row=rows.astype(np.int64),
            boards=np.repeat(START[None], n, axis=0),
            mover=movers,
            roll=np.zeros(n, np.int64),
            cube=np.ones(n, np.int32),
            holder=np.full(n, NOBODY, np.int8),
            number=np.zeros(n, np.int64),
            score=np.zeros((n, 2), np.int64),
            crawford=np.zeros(n, bool),
            crawford_played=np.full(n, length == 1),  # the only game of a one-point match has no use for a cube anyway
        )

    def take(self, index: NDArray[Any]) -> Live:
        """The given rows (index array or mask)."""
        return Live(*(getattr(self, field.name)[index] for field in fields(self)))

    def joined(self, other: Live) -> Live:
        """These games and ``other``'s."""
        return Live(*(np.concatenate([getattr(self, field.name), getattr(other, field.name)]) for field in fields(self)))

    def cubes(self, rules: CubeRules | None, length: int | None) -> Cubes:
        """The cubes as the players on roll see them."""
        owner = np.where(self.holder == NOBODY, CENTRED, np.where(self.holder == self.mover, OWNED, OPPONENT)).astype(np.int8)
        if length is None:
            return Cubes(self.cube, owner, rules)
        mover = self.mover[:, None] == 1
        away = (length - np.where(mover, self.score[:, ::-1], self.score)).astype(np.int16)
        return Cubes(self.cube, owner, rules, away, self.crawford)

    def next_games(self, movers: NDArray[np.int8], length: int) -> Live:
        """The next game of each match, opened by players ``movers``."""
        fresh = Live.start(self.row, movers, length)
        fresh.number, fresh.score = self.number + 1, self.score
        fresh.crawford_played = self.crawford_played | self.crawford
        fresh.crawford = crawford_game(self.score, length, fresh.crawford_played)
        return fresh


def crawford_game(score: NDArray[np.integer], length: int, played: Any) -> Any:
    """``bool[..]``: whether the next game at ``score [.., 2]`` is the Crawford game; ``played bool[..]``: it has been played."""
    return ~played & (score.max(axis=-1, initial=0) == length - 1)


class Scoring(Protocol):
    """How games that are over count."""

    def settled(self, live: Live, won: NDArray[np.int64], ended: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """``(result int64[N], done bool[N])`` of the games ``live``, which are over: ``won int64[N]`` points to player 0, cube included;
        not ``ended``: the turn cap stopped the game. Where not ``done`` another game follows."""
        ...


class MoneyGames:
    """Each game counts its points, and is played by itself."""

    def settled(self, live: Live, won: NDArray[np.int64], ended: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """See ``Scoring``: the points; 0 where the turn cap stopped the game."""
        return np.where(ended, won, 0), np.ones(len(won), bool)


@dataclass(frozen=True)
class Matches:
    """Games add up to matches to ``length`` points."""

    length: int

    def settled(self, live: Live, won: NDArray[np.int64], ended: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """See ``Scoring``: 1 where player 0 has won the match, -1 where it has lost it, else 0. Adds ``won`` to the scores of ``live``."""
        live.score = live.score + np.stack([np.maximum(won, 0), np.maximum(-won, 0)], axis=1)
        result = np.where((live.score >= self.length).any(axis=1), np.sign(won), 0)
        return result, (result != 0) | ~ended

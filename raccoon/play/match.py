"""The one match runner: many games in lock step, every player asked once a step for all the rows that wait for it.

Arenas, self-play and data generation are this runner plus observers. Games are cubeless money games from the starting
position. Nothing here draws random numbers: dice come from ``raccoon.play.dice`` and depend on (seed, game, roll)
alone, so results do not depend on the batch, the number of workers or what the observers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import whole
from raccoon.contracts import Cubes, Observer, Player, RaccoonError, Step, Turns
from raccoon.env.board import START, as_array, terminal_points
from raccoon.env.movegen import enumerate_turns
from raccoon.play import dice

__all__ = ["MatchResult", "play_games", "slice_turns", "take_turns"]


@dataclass(frozen=True)
class MatchResult:
    """Row ``i`` is game ``games[i]``, in the order asked for.

    ``points int64[G]`` to player 0 (0 where capped), ``rolls int64[G]`` rolls played, ``capped bool[G]``: stopped by
    the turn cap, neither won nor lost.
    """

    games: NDArray[np.int64]
    points: NDArray[np.int64]
    rolls: NDArray[np.int64]
    capped: NDArray[np.bool_]


@dataclass
class _Live:
    """The games in progress: ``row`` into the result, player ``mover`` on roll, ``roll`` played so far."""

    row: NDArray[np.int64]
    boards: NDArray[np.int8]
    mover: NDArray[np.int8]
    roll: NDArray[np.int64]

    def take(self, index: NDArray[Any]) -> _Live:
        return _Live(self.row[index], self.boards[index], self.mover[index], self.roll[index])


def slice_turns(turns: Turns, start: int, stop: int) -> Turns:
    """Rows ``start..stop-1`` of ``turns``, without copying the children."""
    low, high = int(turns.offsets[start]), int(turns.offsets[stop])
    rows = slice(start, stop)
    return Turns(
        turns.boards[rows], turns.dice[rows], turns.cubes.take(rows), turns.children[low:high], turns.offsets[start : stop + 1] - low
    )


def take_turns(turns: Turns, rows: NDArray[Any]) -> Turns:
    """The given rows of ``turns`` (index array or mask), children copied."""
    index = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
    counts = np.diff(turns.offsets)[index]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    source = np.arange(offsets[-1]) + np.repeat(turns.offsets[index] - offsets[:-1], counts)
    return Turns(turns.boards[index], turns.dice[index], turns.cubes.take(index), turns.children[source], offsets)


def play_games(
    players: tuple[Player, Player],
    games: ArrayLike,
    seed: int,
    *,
    observers: Sequence[Observer] = (),
    batch: int = 256,
    openings: str = "random",
    turn_cap: int = 1000,
) -> MatchResult:
    """Play the games with the given global indices (``int64[G]``, non-negative, distinct) and return their results.

    Player 0 takes seat ``game % 2``; the opening outcome names the seat that starts. At most ``batch`` games are live
    at a time; a finished game's place is refilled at once. Raises RaccoonError naming the argument for bad input and
    naming the player when a choice is out of range.
    """
    index = _game_numbers(games)
    _check(players, index, batch, turn_cap, seed)
    points, rolls = np.zeros(len(index), np.int64), np.zeros(len(index), np.int64)
    capped = np.zeros(len(index), bool)
    starts, first_dice = dice.opening(seed, index, openings)
    # seat s holds player s when the game index is even, the other one when it is odd
    starters = starts ^ (index % 2).astype(np.int8)
    live = _start(np.arange(0), starters)
    waiting = 0
    while True:
        free = min(batch - len(live.row), len(index) - waiting)
        if free > 0:
            live = _join(live, _start(np.arange(waiting, waiting + free), starters))
            waiting += free
        if len(live.row) == 0:
            return MatchResult(index, points, rolls, capped)
        live = live.take(np.argsort(live.mover, kind="stable"))  # rows of one player side by side: no copy of children
        live, won = _step(live, players, index, seed, first_dice, observers)
        capped_now = (won == 0) & (live.roll >= turn_cap)
        over = (won != 0) | capped_now
        if over.any():
            rows = live.row[over]
            points[rows], rolls[rows], capped[rows] = won[over], live.roll[over], capped_now[over]
            for observer in observers:
                observer.finished(index[rows], points[rows])
            live = live.take(~over)


def _step(
    live: _Live,
    players: tuple[Player, Player],
    index: NDArray[np.int64],
    seed: int,
    first_dice: NDArray[np.int8],
    observers: Sequence[Observer],
) -> tuple[_Live, NDArray[np.int64]]:
    """One roll and play of every live game: the games after it, and the points just won by player 0."""
    games = index[live.row]
    rolled = np.where((live.roll == 0)[:, None], first_dice[live.row], dice.rolls(seed, games, live.roll))
    step = Step(games, live.roll, live.mover, live.boards, rolled, Cubes.centred(len(games)))
    for observer in observers:
        observer.rolled(step)
    turns = enumerate_turns(live.boards, rolled, step.cubes)
    chosen = _choose(players, turns, int(np.count_nonzero(live.mover == 0)))
    after = turns.children[turns.offsets[:-1] + chosen]
    for observer in observers:
        observer.played(step, turns, chosen)
    to_mover = -terminal_points(after).astype(np.int64)
    sign = 1 - 2 * live.mover.astype(np.int64)
    return _Live(live.row, after, (1 - live.mover).astype(np.int8), live.roll + 1), to_mover * sign


def _choose(players: tuple[Player, Player], turns: Turns, first: int) -> NDArray[np.int64]:
    """Choices of all rows: player 0 owns the first ``first`` rows. A player that plays itself is asked once."""
    total = len(turns)
    cuts = [(players[0], 0, total)] if players[0] is players[1] else [(players[0], 0, first), (players[1], first, total)]
    chosen = np.empty(total, np.int64)
    for player, start, stop in cuts:
        if start == stop:
            continue
        part = turns if stop - start == total else slice_turns(turns, start, stop)
        answer = np.asarray(player.choose(part))
        if answer.shape != (stop - start,) or not np.issubdtype(answer.dtype, np.integer):
            got = f"{answer.dtype}{list(answer.shape)}"
            raise RaccoonError(f"player {player.name}: choose() gave {got}, wanted one integer for each of {len(part)} rows")
        if (answer < 0).any() or (answer >= np.diff(part.offsets)).any():
            raise RaccoonError(f"player {player.name}: choose() gave an index outside its row's children")
        chosen[start:stop] = answer
    return chosen


def _start(rows: NDArray[np.int64], starters: NDArray[np.int8]) -> _Live:
    boards = np.repeat(START[None], len(rows), axis=0)
    return _Live(rows.astype(np.int64), boards, starters[rows], np.zeros(len(rows), np.int64))


def _join(a: _Live, b: _Live) -> _Live:
    return _Live(
        np.concatenate([a.row, b.row]),
        np.concatenate([a.boards, b.boards]),
        np.concatenate([a.mover, b.mover]),
        np.concatenate([a.roll, b.roll]),
    )


def _game_numbers(games: ArrayLike) -> NDArray[np.int64]:
    array = as_array(games, "games").reshape(-1)
    if len(array) and (array.dtype.kind not in "iu" or array.max() > np.iinfo(np.int64).max):
        raise RaccoonError(f"games: {array.dtype} instead of whole numbers below 2**63")
    return array.astype(np.int64)


def _check(players: Sequence[Player], index: NDArray[np.int64], batch: int, turn_cap: int, seed: int) -> None:
    if not isinstance(players, Sequence) or len(players) != 2 or not all(isinstance(player, Player) for player in players):
        raise RaccoonError(f"players={players!r}: give two players")
    whole("batch", batch, 1)
    whole("turn_cap", turn_cap, 1)
    whole("seed", seed, 0)
    if len(index) and index.min() < 0:
        raise RaccoonError(f"games: index {int(index.min())} is negative")
    if len(np.unique(index)) != len(index):
        raise RaccoonError("games: an index occurs twice; each game is played once")

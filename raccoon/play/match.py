"""The match runner: it plays many games in lock step and asks each player once a step for all its decisions.

Arenas, self-play and data generation use this runner and add observers. It plays cubeless money games, money games with a live
cube and matches, from the starting position or from given boards. It draws no random numbers: the dice come from
``raccoon.play.dice`` and depend on (seed, game, roll) alone. So results do not depend on the batch size, the number of workers
or the observers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards, CubeRules, Observer, Player, RaccoonError, Step, Turns
from raccoon.env import ragged
from raccoon.env.board import START, terminal_points
from raccoon.env.movegen import enumerate_turns
from raccoon.play import dice
from raccoon.play.arguments import check_games, game_numbers, start_boards
from raccoon.play.cube_turn import offer_cubes
from raccoon.play.live import Live, Matches, MoneyGames, Scoring

__all__ = ["MatchResult", "play_games", "slice_turns", "take_turns"]


@dataclass(frozen=True)
class MatchResult:
    """Row ``i`` is game ``games[i]``, in the order asked for.

    ``points int64[G]`` to player 0, cube included (0 where capped; in match play 1 won, -1 lost), ``rolls int64[G]`` rolls
    played, ``capped bool[G]``: stopped by the turn cap, neither won nor lost; ``cube int32[G]`` its value at the end (of the
    last game).
    """

    games: NDArray[np.int64]
    points: NDArray[np.int64]
    rolls: NDArray[np.int64]
    capped: NDArray[np.bool_]
    cube: NDArray[np.int32]


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
    source, offsets = ragged.take(turns.offsets, index)
    return Turns(turns.boards[index], turns.dice[index], turns.cubes.take(index), turns.children[source], offsets)


def play_games(
    players: tuple[Player, Player],
    games: ArrayLike,
    seed: int,
    *,
    observers: Sequence[Observer] = (),
    concurrent: int = 256,
    openings: str = "random",
    turn_cap: int = 1000,
    cube: CubeRules | None = None,
    match_length: int | None = None,
    starts: Boards | None = None,
) -> MatchResult:
    """Play the games with the given global indices (``int64[G]``, non-negative, distinct) and return their results.

    Player 0 takes seat ``game % 2``; the opening outcome names the seat that starts. At most ``concurrent`` games are live
    at a time; a finished game's place is refilled at once. ``cube``: None plays cubeless games, else before every roll but
    the opening one the player on roll may double. ``match_length``: every index is a match to so many points (25 at most;
    Crawford rule; ``cube`` needed), its dice in the first game those of the money game of that index. ``starts int8[G, 2, 25]``:
    the board from which each (money) game starts, the side in slot 1 on roll; which player that is the opening outcome says
    as usual. Such a game has no opening roll: its rolls count from 1, all 36 are possible and the cube may be turned at once;
    the starting position itself opens as usual. Raises RaccoonError naming the argument for bad input and naming the player
    when an answer is out of range.
    """
    index = game_numbers(games)
    check_games(players, index, concurrent, turn_cap, seed, cube, match_length)
    starts = start_boards(starts, len(index), match_length)
    table = _Table(players, index, seed, openings, observers, cube, match_length, turn_cap, starts)
    live, waiting = table.deal(np.arange(0)), 0
    while True:
        free = min(concurrent - len(live.row), len(index) - waiting)
        if free > 0:
            live = live.joined(table.deal(np.arange(waiting, waiting + free)))
            waiting += free
        if len(live.row) == 0:
            return table.result
        live = table.step(live.take(np.argsort(live.mover, kind="stable")))  # one player's rows side by side: children uncopied


class _Table:
    """What stays the same while games are played, and their results."""

    def __init__(
        self,
        players: tuple[Player, Player],
        index: NDArray[np.int64],
        seed: int,
        openings: str,
        observers: Sequence[Observer],
        rules: CubeRules | None,
        length: int | None,
        turn_cap: int,
        boards: Boards,
    ) -> None:
        self.players, self.index, self.seed, self.observers = players, index, seed, observers
        self.openings, self.rules, self.length, self.turn_cap = openings, rules, length, turn_cap
        self.scoring: Scoring = MoneyGames() if length is None else Matches(length)
        seats, self.first_dice = dice.opening(seed, index, openings)
        self.starters = self._players_of(np.arange(len(index)), seats)
        self.boards, self.first_roll = boards, (boards != START).any(axis=(1, 2)).astype(np.int64)
        points = np.zeros(len(index), np.int64)
        self.result = MatchResult(index, points, np.zeros(len(index), np.int64), np.zeros(len(index), bool), np.ones(len(index), np.int32))

    def deal(self, rows: NDArray[np.int64]) -> Live:
        """New games (matches) of the given rows."""
        live = Live.start(rows, self.starters[rows], self.length)
        live.boards, live.roll = self.boards[rows], self.first_roll[rows]
        return live

    def _players_of(self, rows: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.int8]:
        # seat s holds player s when the game index is even, the other one when it is odd
        return seats ^ (self.index[rows] % 2).astype(np.int8)

    def step(self, live: Live) -> Live:
        """One cube turn, roll and play of every game of ``live`` (sorted by mover); the games that go on."""
        games = self.index[live.row]
        if self.rules is not None:
            dropped = offer_cubes(live, games, self.players, self.rules, self.length, self.observers)
            if dropped.any():
                out = live.take(dropped)
                going = self._finish(out, out.cube * (1 - 2 * out.mover.astype(np.int64)), np.ones(len(out.row), bool))
                live = live.take(~dropped)
                return (self._rolled(live) if len(live.row) else live).joined(going)
        return self._rolled(live)

    def _rolled(self, live: Live) -> Live:
        games, cubes = self.index[live.row], live.cubes(self.rules, self.length)
        step = Step(games, live.roll, live.mover, live.boards, self._dice(live, games), cubes, live.number)
        for observer in self.observers:
            observer.rolled(step)
        turns = enumerate_turns(live.boards, step.dice, cubes)
        chosen = _choose(self.players, turns, int(np.count_nonzero(live.mover == 0)))
        after = turns.children[turns.offsets[:-1] + chosen]
        for observer in self.observers:
            observer.played(step, turns, chosen)
        won = cubes.game_points(-terminal_points(after).astype(np.int64)) * live.cube * (1 - 2 * live.mover.astype(np.int64))  # to player 0
        live.boards, live.mover, live.roll = after, (1 - live.mover).astype(np.int8), live.roll + 1
        over = (won != 0) | (live.roll - self.first_roll[live.row] >= self.turn_cap)
        if not over.any():
            return live
        return live.take(~over).joined(self._finish(live.take(over), won[over], won[over] != 0))

    def _dice(self, live: Live, games: NDArray[np.int64]) -> NDArray[np.int8]:
        rolled = dice.rolls(self.seed, dice.stream(games, live.number), live.roll)
        first = live.roll == 0
        rolled[first] = self.first_dice[live.row[first]]
        later = first & (live.number > 0)
        if later.any():
            rolled[later] = dice.opening(self.seed, dice.stream(games[later], live.number[later]))[1]
        return rolled

    def _finish(self, live: Live, won: NDArray[np.int64], ended: NDArray[np.bool_]) -> Live:
        """Book games that are over (not ``ended``: stopped by the turn cap); next games of matches that are not."""
        self.result.rolls[live.row] += live.roll - self.first_roll[live.row]
        settled, done = self.scoring.settled(live, won, ended)
        rows = live.row[done]
        self.result.points[rows] = settled[done]
        self.result.capped[rows], self.result.cube[rows] = ~ended[done], live.cube[done]
        if len(rows):
            for observer in self.observers:
                observer.finished(self.index[rows], self.result.points[rows])
        more = live.take(~done)
        if len(more.row) == 0 or self.length is None:
            return more
        seats = dice.opening(self.seed, dice.stream(self.index[more.row], more.number + 1))[0]
        return more.next_games(self._players_of(more.row, seats), self.length)


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

"""What ``raccoon.play.match.play_games`` is given: checked, and as arrays. Raises RaccoonError naming the argument."""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import quoted, whole
from raccoon.contracts import Boards, CubeRules, Player, RaccoonError
from raccoon.cube.match_equity_table import check_length
from raccoon.env.board import START, as_array, as_boards, check, terminal_points

__all__ = ["check_games", "game_numbers", "start_boards"]


def game_numbers(games: ArrayLike) -> NDArray[np.int64]:
    """``int64[G]``: the indices of the games."""
    array = as_array(games, "games").reshape(-1)
    if len(array) and (array.dtype.kind not in "iu" or array.max() > np.iinfo(np.int64).max):
        raise RaccoonError(f"games: {array.dtype} instead of whole numbers below 2**63")
    return array.astype(np.int64)


def start_boards(starts: Boards | None, games: int, match_length: int | None) -> Boards:
    """``int8[games, 2, 25]``: where each game starts."""
    if starts is None:
        return np.repeat(START[None], games, axis=0)
    if match_length is not None:
        raise RaccoonError("starts: matches begin at the starting position; leave match_length out")
    boards = as_boards(starts, "starts")
    check(boards, "starts")
    if len(boards) != games:
        raise RaccoonError(f"starts: {len(boards)} boards for {games} games; give one each")
    over = np.flatnonzero(terminal_points(boards))
    if len(over):
        raise RaccoonError(f"starts: row {over[0]} is a finished game; there is nothing to play")
    return boards


def check_games(
    players: Sequence[Player],
    index: NDArray[np.int64],
    concurrent: int,
    turn_cap: int,
    seed: int,
    cube: CubeRules | None,
    match_length: int | None,
) -> None:
    """Refuse players, games ``index int64[G]`` and settings that cannot be."""
    if not isinstance(players, Sequence) or len(players) != 2 or not all(isinstance(player, Player) for player in players):
        raise RaccoonError(f"players={quoted(players)}: give two players")
    whole("concurrent", concurrent, 1)
    whole("turn_cap", turn_cap, 1)
    whole("seed", seed, 0)
    if match_length is not None:
        check_length(match_length, "match_length")
        if cube is None or cube.jacoby or cube.beavers:
            raise RaccoonError("match_length: matches are played with a cube, without Jacoby and beavers; give cube=CubeRules()")
        if len(index) and index.max() >= 1 << 40:
            raise RaccoonError("games: in match play indices stay below 2**40")
    if len(index) and index.min() < 0:
        raise RaccoonError(f"games: index {int(index.min())} is negative")
    if len(np.unique(index)) != len(index):
        raise RaccoonError("games: an index occurs twice; each game is played once")

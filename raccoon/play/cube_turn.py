"""Cube decisions before each roll, for all games of the match runner at once: one side may double, the other side answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import BeaverPlayer, Boards, CubeObserver, CubeRules, Cubes, Observer, Offer, Player, RaccoonError
from raccoon.play.live import Live

__all__ = ["offer_cubes"]

_Question = Literal["double", "take", "beaver"]


def offer_cubes(
    live: Live,
    games: NDArray[np.int64],
    players: Sequence[Player],
    rules: CubeRules,
    length: int | None,
    observers: Sequence[Observer],
) -> NDArray[np.bool_]:
    """Turn the cubes of ``live``, in place, where doubles are taken; ``bool[N]``: dropped, the mover has won the cube.

    The opening roll is never doubled. A taken double gives the cube to the taker at twice the value; under beavers the taker
    may redouble at once and keep it. Raises RaccoonError naming a player whose answer is no bool for each row.
    """
    cubes = live.cubes(rules, length)
    offered = cubes.may_double() & (live.roll > 0)
    offered[offered] = _asked(players, "double", live.mover[offered], live.boards[offered], cubes.take(offered))
    dropped = np.zeros(len(games), bool)
    if not offered.any():
        return dropped
    rows = np.flatnonzero(offered)
    mover, boards, before = live.mover[rows], live.boards[rows], cubes.take(rows)
    took = _asked(players, "take", 1 - mover, boards, before)
    beavered = np.zeros(len(rows), bool)
    able = took & before.may_beaver()
    if able.any():
        beavered[able] = _asked(players, "beaver", 1 - mover[able], boards[able], before.take(able))
    offer = Offer(games[rows], live.roll[rows], mover, boards, before, took, beavered)
    for observer in observers:
        if isinstance(observer, CubeObserver):
            observer.doubled(offer)
    taken = rows[took]
    live.cube[taken] *= np.where(beavered[took], 4, 2).astype(np.int32)
    live.holder[taken] = 1 - mover[took]
    dropped[rows[~took]] = True
    return dropped


def _asked(players: Sequence[Player], question: _Question, who: NDArray[np.int8], boards: Boards, cubes: Cubes) -> NDArray[np.bool_]:
    """``bool[N]``: the answers of player ``who[i]`` to each row; a player that plays itself is asked once."""
    answers = np.zeros(len(who), bool)
    groups: list[tuple[Player, NDArray[Any]]]
    if players[0] is players[1]:
        groups = [(players[0], np.arange(len(who)))]
    else:
        groups = [(player, np.flatnonzero(who == seat)) for seat, player in enumerate(players)]
    for player, rows in groups:
        method = _method(player, question)
        if len(rows) == 0 or method is None:
            continue
        given = np.asarray(method(boards[rows], cubes.take(rows)))
        if given.shape != (len(rows),) or given.dtype != bool:
            got = f"{given.dtype}{list(given.shape)}"
            raise RaccoonError(f"player {player.name}: {question}() gave {got}, wanted one bool for each of {len(rows)} rows")
        answers[rows] = given
    return answers


def _method(player: Player, question: _Question) -> Callable[[Boards, Cubes], NDArray[np.bool_]] | None:
    """What answers the question; None for a player that does not beaver."""
    if question == "beaver":
        return player.beaver if isinstance(player, BeaverPlayer) else None
    return player.double if question == "double" else player.take

"""Whether a player agrees to a resignation: when playing on is worth no more to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.contracts import Player
from raccoon.cube import match_equity
from raccoon.play.game import ANSWER, Game
from raccoon.search.analysis.answers import analyse
from raccoon.search.analysis.questions import Question, parts_of
from raccoon.search.analysis.records import Unit

__all__ = ["accepts"]

_TIE = 1e-4
"""Equity below which two ways to end a game are the same: networks leave so much in positions that are decided."""


def accepts(game: Game, size: int, player: Player) -> bool:
    """Does ``player`` agree when the other side, whose action is next, resigns ``size`` times the cube (1 to 3)?

    A player with an engine and a search compares what it gets with what it expects from playing on, in points or, at a match score,
    in match winning chances. One without agrees to the most that can still be lost. Raises RaccoonError as ``Game.resign``.
    """
    won = abs(game.resign(size).won)
    parts = parts_of(player)
    if parts is None:
        slot = 1 if game.decides == game.on_roll else 0
        return won >= abs(game.resign(1 if game.position.board[slot].sum() < 15 else 3).won)
    record = next(iter(analyse([Question(game.position, own_cube=True)], *parts, cubeful=None)))
    return _offered(game, won, record["cube"] is not None) >= _expected(game, record) - _TIE


def _expected(game: Game, record: dict[str, Any]) -> float:
    """Equity of playing on to the side that would agree, in the unit of the record."""
    action = record.get("cube_action")
    if game.stage == ANSWER and action is not None:  # the side on roll has doubled
        return min(action["double_take"], action["double_pass"])
    equity: float = (record["candidates"][0] if "candidates" in record else record)["equity"]
    return equity if game.stage == ANSWER else -equity


def _offered(game: Game, won: int, cubeful: bool) -> float:
    """Equity of ``won`` points, the cube included, to the side that would agree."""
    if not (cubeful and game.position.match_length):
        return won / game.position.cube_value
    sign = -1 if game.decides == game.on_roll else 1
    return sign * Unit(game.cubes).equity(float(match_equity.after(np.array([sign * won]), game.cubes)[0]))

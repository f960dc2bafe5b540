"""Matches as records: read from the files of other programs, written as match text, replayed, analysed, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.matches.positions import PositionList, read_positions
    from raccoon.matches.read import parse_match, read_match, read_matches
    from raccoon.matches.record import LABELS, Action, ActionKind, Fault, Game, Match
    from raccoon.matches.state import GameState
    from raccoon.matches.svg import STYLE, board_svg

__all__ = [
    "LABELS",
    "STYLE",
    "Action",
    "ActionKind",
    "Fault",
    "Game",
    "GameState",
    "Match",
    "PositionList",
    "board_svg",
    "parse_match",
    "read_match",
    "read_matches",
    "read_positions",
]

_HOMES = {
    "Action": "record",
    "ActionKind": "record",
    "Fault": "record",
    "Game": "record",
    "GameState": "state",
    "LABELS": "record",
    "Match": "record",
    "PositionList": "positions",
    "STYLE": "svg",
    "board_svg": "svg",
    "parse_match": "read",
    "read_match": "read",
    "read_matches": "read",
    "read_positions": "positions",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

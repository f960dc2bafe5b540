"""The rules of backgammon on batches of boards: no engine, no torch.

Modules: ``board`` (validity, pips, race, end of a game), ``movegen`` (whole turns), ``half_moves`` (OpenSpiel's 1352
actions), ``codec``, ``xgid``, ``gnubg_id`` and ``board26`` (formats), ``notation`` (turns as text), ``encoder`` (network input),
``game_wrapper`` (OpenSpiel states), ``ragged`` and ``lookup`` (rows of different lengths). The names below are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.env.board import START, is_race, pips, swap, terminal_points, validate
    from raccoon.env.codec import (
        Position,
        from_position_id,
        from_position_key,
        from_position_keys,
        from_xgid,
        position_id,
        position_key,
        position_keys,
        to_xgid,
        unique_boards,
    )
    from raccoon.env.encoder import Encoder
    from raccoon.env.half_moves import legal_actions
    from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates, afterstates_all_rolls, enumerate_turns
    from raccoon.env.notation import format_turn, parse_turn

__all__ = [
    "ROLLS",
    "ROLL_PROBS",
    "START",
    "Encoder",
    "Position",
    "afterstates",
    "afterstates_all_rolls",
    "enumerate_turns",
    "format_turn",
    "from_position_id",
    "from_position_key",
    "from_position_keys",
    "from_xgid",
    "is_race",
    "legal_actions",
    "parse_turn",
    "pips",
    "position_id",
    "position_key",
    "position_keys",
    "swap",
    "terminal_points",
    "to_xgid",
    "unique_boards",
    "validate",
]

_HOMES = {
    "Encoder": "encoder",
    "Position": "codec",
    "ROLLS": "movegen",
    "ROLL_PROBS": "movegen",
    "START": "board",
    "afterstates": "movegen",
    "afterstates_all_rolls": "movegen",
    "enumerate_turns": "movegen",
    "format_turn": "notation",
    "from_position_id": "codec",
    "from_position_key": "codec",
    "from_position_keys": "codec",
    "from_xgid": "codec",
    "is_race": "board",
    "legal_actions": "half_moves",
    "parse_turn": "notation",
    "pips": "board",
    "position_id": "codec",
    "position_key": "codec",
    "position_keys": "codec",
    "swap": "board",
    "terminal_points": "board",
    "to_xgid": "codec",
    "unique_boards": "codec",
    "validate": "board",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

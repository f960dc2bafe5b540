"""The rules of backgammon on batches of boards: no engine, no torch.

Modules: ``board`` (validity, pips, race, end of a game), ``movegen`` (whole turns), ``half_moves`` (OpenSpiel's 1352
actions), ``codec`` and ``xgid`` (text and byte formats), ``notation`` (turns as text), ``encoder`` (network input),
``game_wrapper`` (OpenSpiel states). The names below are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
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

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__

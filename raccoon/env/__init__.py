"""The rules of backgammon on batches of boards: no engine, no torch.

Modules: ``board`` (validity, pips, race, end of a game), ``movegen`` (whole turns), ``half_moves`` (OpenSpiel's 1352
actions), ``position_ids``, ``xgid``, ``gnubg_id`` and ``board26`` (formats), ``notation`` (turns as text), ``encoder`` (network input),
``game_wrapper`` (OpenSpiel states), ``ragged`` and ``lookup`` (rows of different lengths). The names below are imported on first use.
"""

from __future__ import annotations

from raccoon.lazy import facade

__getattr__, __dir__, __all__ = facade(__name__, __file__)

"""Raccoon: train, search and measure backgammon players.

What a notebook needs is here, imported when it is first used::

    import raccoon

    position = raccoon.read_position("4HPwATDgc/ABMA", dice=31)
    print(raccoon.analyse(position, "default", search="expectimax").best.move)
    report = raccoon.play_arena("default", "gnubg0", games=400)
    print(report.figures["ppg_vr"])

The packages below (``raccoon.env``, ``raccoon.engine``, ``raccoon.search`` and so on) have the parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.api.analysis import Analysis, Candidate, CubeAction, Play, analyse, legal_plays, read_position
    from raccoon.api.loading import load_engine, load_player, player_node
    from raccoon.api.measuring import measure, play_arena, read_report
    from raccoon.api.training import train_net
    from raccoon.contracts import Figure, RaccoonError, Report

__version__ = "0.3.0"
__all__ = [
    "Analysis",
    "Candidate",
    "CubeAction",
    "Figure",
    "Play",
    "RaccoonError",
    "Report",
    "analyse",
    "legal_plays",
    "load_engine",
    "load_player",
    "measure",
    "play_arena",
    "player_node",
    "read_position",
    "read_report",
    "train_net",
]

_HOMES = {
    "Analysis": "api.analysis",
    "Candidate": "api.analysis",
    "CubeAction": "api.analysis",
    "Figure": "contracts",
    "Play": "api.analysis",
    "RaccoonError": "contracts",
    "Report": "contracts",
    "analyse": "api.analysis",
    "legal_plays": "api.analysis",
    "load_engine": "api.loading",
    "load_player": "api.loading",
    "measure": "api.measuring",
    "play_arena": "api.measuring",
    "player_node": "api.loading",
    "read_position": "api.analysis",
    "read_report": "api.measuring",
    "train_net": "api.training",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

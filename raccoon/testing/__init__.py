"""Conformance checks for plugin authors: one function a group, each taking an object or a config node.

They raise AssertionError that says what the contract wants. Import them in your own tests::

    from raccoon.testing import check_engine
    def test_mine(): check_engine({"_target_": "my_package.MyEngine"})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raccoon.lazy import facade

if TYPE_CHECKING:
    from raccoon.testing.engine import check_engine
    from raccoon.testing.networks import check_data, check_encoder, check_model
    from raccoon.testing.players import check_cube, check_player, check_search
    from raccoon.testing.runners import check_evaluator, check_executor
    from raccoon.testing.subjects import sample_boards, sample_turns
    from raccoon.testing.trainers import check_callback, check_logger, check_trainer

__all__ = [
    "check_callback",
    "check_cube",
    "check_data",
    "check_encoder",
    "check_engine",
    "check_evaluator",
    "check_executor",
    "check_logger",
    "check_model",
    "check_player",
    "check_search",
    "check_trainer",
    "sample_boards",
    "sample_turns",
]

_HOMES = {
    "check_callback": "trainers",
    "check_cube": "players",
    "check_data": "networks",
    "check_encoder": "networks",
    "check_engine": "engine",
    "check_evaluator": "runners",
    "check_executor": "runners",
    "check_logger": "trainers",
    "check_model": "networks",
    "check_player": "players",
    "check_search": "players",
    "check_trainer": "trainers",
    "sample_boards": "subjects",
    "sample_turns": "subjects",
}

__getattr__, __dir__ = facade(__name__, _HOMES)

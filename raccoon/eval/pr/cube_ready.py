"""Before a measurement with a live cube starts: can the player play it, and how would it play without?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from raccoon.aliases import public
from raccoon.config.instantiate import build
from raccoon.contracts import Player, RaccoonError
from raccoon.play.player import EnginePlayer

__all__ = ["CUBELESS_MOVES", "ask_first", "cubeless_twin"]

CUBELESS_MOVES = "cubeless"
"""Short for the same player with ``cube.moves=cubeless``, where an evaluator takes a second player."""
_PLAYER = "raccoon.play.EnginePlayer"
_MODEL = "raccoon.cube.Janowski"


def ask_first(node: Mapping[str, Any], at: str, question: Callable[[Player], object], otherwise: str = "") -> Player:
    """The player of ``node``, built; one of an engine has answered ``question`` (of a row or two) as a test.

    Raises RaccoonError naming ``at`` when it cannot play with a cube: a scalar head, a search without one. ``otherwise`` is
    what else the user may do.
    """
    player: Player = build(node, at, Player)
    if isinstance(player, EnginePlayer):
        try:
            question(player)
        except RaccoonError as error:
            raise RaccoonError(f"{at}: {error}{otherwise}") from error
    return player


def cubeless_twin(node: Mapping[str, Any]) -> dict[str, Any]:
    """The player of ``node`` ranking plays without the cube. Raises RaccoonError when it is no player of an engine."""
    if public(str(node.get("_target_"))) != _PLAYER:
        raise RaccoonError(
            f"evaluator.compare={CUBELESS_MOVES}: {node.get('_target_')} has no cube model to change; give a player of an engine"
        )
    model = {**(node.get("cube") or {"_target_": _MODEL}), "moves": "cubeless"}
    name = node.get("name")
    return {**node, "cube": model, "name": name and f"{name}+cubeless"}

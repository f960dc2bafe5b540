"""Which games an arena plays: their options, checked, and their shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raccoon.aliases import ARGUMENTS
from raccoon.checks import flag, quoted, whole
from raccoon.contracts import CubeRules, RaccoonError
from raccoon.cube.match_equity_table import check_length
from raccoon.executor import check_units, shard_size
from raccoon.play.dice import OPENING_MODES

__all__ = ["MatchPlan", "Starts", "luck_switch", "start_rows"]

Starts = Sequence[tuple[str, str]]
"""Groups, each with the Position ID of a board; the side on roll there is the player that the opening outcome names."""
_FIRST = ARGUMENTS["eval.VRArena"]
_LEAST = 16  # games side by side, below which a network is asked for too little at a time


def luck_switch(value: Any) -> bool:
    """Meaning of ``evaluator.luck``: ``gnubg0``, ``on`` or true; ``off`` or false."""
    if value in ("gnubg0", "on", True):
        return True
    if value in ("off", False):
        return False
    raise RaccoonError(f"evaluator.luck={quoted(value)}: choose gnubg0 (on) or off")


@dataclass(frozen=True)
class MatchPlan:
    """Which games to play: global indices ``first .. first + games - 1`` in shards of ``shard_games`` at most (``size``).

    ``concurrent`` games are live at a time in a worker; ``luck`` adds up the dice luck; ``openings`` as in ``play.dice``. ``cube``:
    arguments of ``CubeRules`` where a cube is in play, None for cubeless games; ``match_length``: play matches, whose luck is
    not counted. ``record``: keep the moves and write them as match text (``matches/*.mat`` beside the shards' folder). ``starts``: where
    games start, None for the starting position; ``start_rows`` says which game starts where.
    """

    games: int
    shard_games: int = 250
    first: int = 0
    concurrent: int = 256
    luck: bool = True
    openings: str = "random"
    turn_cap: int = 1000
    cube: Mapping[str, Any] | None = None
    match_length: int | None = None
    record: bool = False
    starts: Starts | None = None

    def __post_init__(self) -> None:
        for name in ("games", "shard_games", "concurrent", "turn_cap"):
            whole(f"evaluator.{name}", getattr(self, name), 1)
        flag("evaluator.record", self.record)
        check_units("evaluator.games", self.games, self.size)
        if self.openings not in OPENING_MODES:
            raise RaccoonError(f"evaluator.openings={quoted(self.openings)}: choose one of {', '.join(OPENING_MODES)}")
        if self.match_length is not None:
            check_length(self.match_length, "evaluator.match_length")

    def for_job(self) -> dict[str, Any]:
        """The arguments as jobs name them. Jobs are hashed, so an argument keeps the name that it had first."""
        return {_FIRST.get(key, key): value for key, value in vars(self).items()}

    @classmethod
    def of_job(cls, options: Mapping[str, Any]) -> MatchPlan:
        """The plan that ``for_job`` gave."""
        present = {old: new for new, old in _FIRST.items()}
        return cls(**{present.get(key, key): value for key, value in options.items()})

    @property
    def rules(self) -> CubeRules | None:
        """How the cube is played, None without one."""
        return None if self.cube is None else CubeRules(**self.cube)

    @property
    def size(self) -> int:
        """Games of a shard: fewer where so many would leave cores idle."""
        return shard_size(self.games, self.shard_games, _LEAST)

    @property
    def sizes(self) -> list[int]:
        """Games of each shard."""
        return [len(self.games_of(shard)) for shard in range(-(-self.games // self.size))]

    def games_of(self, shard: int) -> NDArray[np.int64]:
        """Global indices ``int64[G]`` of the games of one shard."""
        start = shard * self.size
        return self.first + np.arange(start, min(start + self.size, self.games), dtype=np.int64)


def start_rows(starts: Starts, games: NDArray[np.int64]) -> NDArray[np.int64]:
    """``int64[G]``: from which row of ``starts`` each game starts; two games in a row start alike, each player in either seat once."""
    return games // 2 % len(starts)

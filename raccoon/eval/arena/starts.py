"""Games that start from given positions (``evaluator.starts``): files of positions in groups, and points per game of each group."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from raccoon.checks import quoted
from raccoon.contracts import RaccoonError
from raccoon.env.board import START
from raccoon.env.position_ids import position_id
from raccoon.eval.arena.figures import sample
from raccoon.eval.arena.games import Played
from raccoon.eval.arena.plan import Starts, start_rows
from raccoon.matches.positions import read_positions
from raccoon.stats import mean_ci

__all__ = ["by_group", "read_starts"]

_KEY = "evaluator.starts"


def read_starts(given: str | Mapping[str, str]) -> Starts:
    """The positions of one file, or of several ``{group: file}``, which take turns. The side on roll of each is to play; dice are left out.

    Raises RaccoonError naming the key and the line for a file that cannot be read and for the starting position.
    """
    files = given if isinstance(given, Mapping) else {Path(given).stem: given}
    if not files:
        raise RaccoonError(f"{_KEY}={quoted(given)}: give a file of positions, {{group: file}} or null")
    return [pair for round_of in zip_longest(*(_group(str(name), path) for name, path in files.items())) for pair in round_of if pair]


def _group(name: str, path: str) -> Starts:
    try:
        found = read_positions(path, strict=False)
    except RaccoonError as error:
        raise RaccoonError(f"{_KEY}: {error}") from error
    if found.faults:
        raise RaccoonError(f"{_KEY}: {found.faults[0]}")
    if not found.positions:
        raise RaccoonError(f"{_KEY}: {path}: holds no position")
    for question in found.positions:
        if (question.position.board == START).all():
            raise RaccoonError(f"{_KEY}: {path}, line {question.line}: is the starting position, which has an opening roll; leave it out")
    return [(name, position_id(question.position.board)) for question in found.positions]


def by_group(starts: Starts, played: Played) -> list[Mapping[str, Any]]:
    """A row a group: finished games and points per game to the player, by luck taken out where it was counted."""
    groups = np.array([name for name, _ in starts])[start_rows(starts, played.games)]
    rows: list[Mapping[str, Any]] = []
    for name in dict.fromkeys(name for name, _ in starts):
        mine = played.of(groups == name)
        if not mine.capped.all():
            games = sample(mine, "random")
            rows.append({
                "starts": name,
                "positions": sum(group == name for group, _ in starts),
                "games": len(games.points),
                "points per game": mean_ci(games.points if games.luck is None else games.reduced),
                "wins": float((games.points > 0).mean()),
            })  # fmt: skip
    return rows

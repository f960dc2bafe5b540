"""Sums of an analysed match, a player: performance rating, blunders, luck, result, and the result without the luck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raccoon.contracts import BLUNDER, PR_SCALE
from raccoon.matches.analysis import costs_of
from raccoon.matches.record import Match

__all__ = ["combined", "summarise"]

Row = dict[str, Any]


def summarise(match: Match, records: Sequence[Mapping[str, Any]]) -> list[Row]:
    """A row for player 0 and one for player 1.

    ``decisions`` that count (plays with a choice, doubles, answers, close cubes), ``plays`` and ``cubes`` of them; ``play_loss``,
    ``cube_loss`` and their sum ``loss`` (points per unit of the cube), ``mwc_loss`` (None in money play), ``blunders`` (losses above .08);
    ``pr``: 500 times the mean loss; ``luck`` (as ``loss``); ``luck_stake``, ``result`` and ``adjusted``: points in money play and
    match winning chance in a match: the luck, the result, and the result minus the luck of both. The last two are None for a match that
    nobody has won.
    """
    rows = [_player(records, player) for player in (0, 1)]
    result = _result(match)
    for player, row in enumerate(rows):
        net = row["luck_stake"] - rows[1 - player]["luck_stake"]
        row["result"] = None if result is None else result[player]
        row["adjusted"] = None if result is None else result[player] - net
    return rows


def _result(match: Match) -> tuple[float, float] | None:
    score = match.score
    if not match.length:
        start = match.games[0].score if match.games else (0, 0)
        won = float(score[0] - start[0] - score[1] + start[1])
        return won, -won
    if max(score) < match.length:
        return None
    return (1.0, 0.0) if score[0] > score[1] else (0.0, 1.0)


def _player(records: Sequence[Mapping[str, Any]], player: int) -> Row:
    costs = costs_of(records, player)
    cubes = costs["double"] + costs["answer"]
    own = [row for row in records if row["player"] == player]
    theirs = [row for row in records if row["player"] != player]
    mwc = [row["mwc_cost"] for row in own] + [row.get("answer_mwc_cost") for row in theirs]
    rolls = [row for row in own if row["luck"] is not None]
    row: Row = {
        "decisions": len(costs["play"]) + len(cubes),
        "plays": len(costs["play"]),
        "cubes": len(cubes),
        "play_loss": sum(costs["play"]),
        "cube_loss": sum(cubes),
        "blunders": sum(cost > BLUNDER for cost in costs["play"] + cubes),
        "mwc_loss": None if all(cost is None for cost in mwc) else sum(cost or 0.0 for cost in mwc),
        "rolls": len(rolls),
        "luck": sum(row["luck"] for row in rolls),
        "luck_stake": sum(row["luck_stake"] for row in rolls),
    }
    return _rated(row)


def _rated(row: Row) -> Row:
    row["loss"] = row["play_loss"] + row["cube_loss"]
    row["pr"] = PR_SCALE * row["loss"] / row["decisions"] if row["decisions"] else None
    return row


def combined(rows: Sequence[Mapping[str, Any]]) -> Row:
    """The sums of one player over several matches; ``matches`` is their number, and what is of a match alone is left out."""
    keys = ("decisions", "plays", "cubes", "play_loss", "cube_loss", "blunders", "rolls", "luck")
    return _rated({"matches": len(rows)} | {key: sum(row[key] for row in rows) for key in keys})

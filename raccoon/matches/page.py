"""An analysed match as text for a terminal: a line a decision, then a table of the players."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raccoon.env.formats.xgid import from_xgid
from raccoon.matches.analysis import answers_of
from raccoon.matches.record import Match

__all__ = ["decision_lines", "game_title", "player_table"]

Row = Mapping[str, Any]
_PLAYERS = (
    ("decisions", "decisions"), ("PR", "pr"), ("play loss", "play_loss"), ("cube loss", "cube_loss"), ("MWC loss %", "mwc_loss"),
    ("blunders", "blunders"), ("luck", "luck"), ("result", "result"), ("adjusted", "adjusted"),
)  # fmt: skip
_PERCENT = {"mwc_loss"}
_SHOWN = 0.0005
"""Smaller losses are left out."""


def game_title(match: Match, index: int) -> str:
    """``Game 2, White 1, Black 0 of 5, Crawford`` without names."""
    game = match.games[index]
    length = f" of {match.length}" if match.length else ""
    return f"game {index + 1}, {game.score[0]}-{game.score[1]}{length}" + (", Crawford" if game.crawford else "")


def decision_lines(match: Match, records: Iterable[Row], names: tuple[str, str]) -> Iterable[str]:
    """A line a decision, clear ones not to double left out: number, player, roll, what was done, luck, what it cost, what was better."""
    width = max(6, *(len(name[:16]) for name in names))
    game = 0
    for row in records:
        if row["game"] != game:
            game = row["game"]
            yield ("\n" if game > 1 else "") + game_title(match, game - 1)
        if row["done"] == "no double" and not row["counts"] and not (row["cost"] or 0.0) > _SHOWN:
            continue
        dice = from_xgid(row["xgid"]).dice
        roll = "".join(str(die) for die in sorted(dice, reverse=True)) if dice else "  "
        done = row["done"] or "not known"
        luck = f"{row['luck']:>+7.3f}" if row["luck"] is not None else " " * 7
        verdict = _verdict(row["cost"], row["best"], done)
        yield f"{row['number']:>3} {names[row['player']][:16]:<{width}} {roll} {done:<26} {luck} {verdict}".rstrip()
        for player, answer, cost, best in answers_of(row):
            yield f"    {names[player][:16]:<{width}}    {answer:<26} {'':7} {_verdict(cost, best, answer)}".rstrip()


def _verdict(cost: float | None, best: str | None, done: str) -> str:
    if cost is None:
        return f"{'':>7} best: {best}" if best and best != done else ""
    better = f" best: {best}" if best and best != done else ""
    return f"{cost:>7.3f}{better}" if cost > _SHOWN else ""


def player_table(rows: Sequence[Row], names: Sequence[str], match: bool) -> list[str]:
    """The table of the players of one match, or (rows of ``combined``) of many. ``match``: results are winning chances."""
    columns = [(head, key) for head, key in _PLAYERS if any(row.get(key) is not None for row in rows)]
    if "matches" in rows[0]:
        columns.insert(0, ("matches", "matches"))
    cells = [[_cell(key, row.get(key), match) for _, key in columns] for row in rows]
    widths = [max(len(head), *(len(line[at]) for line in cells)) for at, (head, _) in enumerate(columns)]
    first = max(len("player"), *(len(name) for name in names))
    lines = [f"{'player':<{first}}  " + "  ".join(f"{head:>{size}}" for (head, _), size in zip(columns, widths, strict=True))]
    for name, line in zip(names, cells, strict=True):
        lines.append(f"{name:<{first}}  " + "  ".join(f"{cell:>{size}}" for cell, size in zip(line, widths, strict=True)))
    return lines


def _cell(key: str, value: Any, match: bool) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if key in _PERCENT or (match and key in ("result", "adjusted")):
        return f"{100 * value:.2f}" + ("" if key in _PERCENT else "%")
    return f"{value:.2f}" if key == "pr" else f"{value:+.3f}" if key in ("luck", "result", "adjusted") else f"{value:.3f}"

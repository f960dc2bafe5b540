"""Match text of a match, as GNU Backgammon and eXtreme Gammon read it (``.mat``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from raccoon.files import write_text
from raccoon.matches.record import LABELS, Action, Game, Match

__all__ = ["mat_text", "write_mat"]

_LEFT, _RIGHT = 28, 34
"""Width of the left column, and where a result of the right player begins."""
_WORDS = {"take": " Takes", "drop": " Drops"}


def mat_text(match: Match, names: bool = False) -> str:
    """The text. ``names``: write those of the match; else the players are White and Black. What is not known of a roll is ``????``.

    ``raccoon.matches.parse_match`` reads it back. Beavers and the Jacoby rule are in the format of eXtreme Gammon.
    """
    shown = match.names if names else LABELS
    rules = [("Jacoby", match.jacoby), ("Beaver", match.beavers)] if not match.length else []
    lines = [f'; [{rule} "On"]' for rule, on in rules if on]
    lines += [] if match.cube else ['; [CubeLimit "1"]']
    late = match.length > 1 and not any(game.crawford for game in match.games) and _reaches_crawford(match)
    lines += ['; [Crawford "Off"]'] if late else []
    lines += [f" {match.length} point match"]
    for number, game in enumerate(match.games, start=1):
        left, right = (f"{name} : {score}" for name, score in zip(shown, game.score, strict=True))
        lines += ["", f" Game {number}", f" {left:<{_LEFT + 2}} {right}", *_rows(match, game)]
    return "\n".join(lines) + "\n"


def write_mat(path: str | Path, match: Match, names: bool = False) -> None:
    """``mat_text`` as a file, written whole or not at all."""
    write_text(path, mat_text(match, names))


def _reaches_crawford(match: Match) -> bool:
    return any(max(game.score) == match.length - 1 for game in match.games)


def _rows(match: Match, game: Game) -> Iterator[str]:
    """Rows of two cells; an action that would stand in the cell before the last one begins a new row. The result comes last."""
    cells: list[list[str]] = []
    cube, column = 1, 2
    for action in game.actions:
        if action.kind in ("double", "beaver"):
            cube *= 2
        text = _cell(action, cube)
        if text is None:
            continue
        if action.player <= column or not cells:
            cells.append(["", ""])
        column = action.player
        cells[-1][column] = text
    result = _result(match, game)
    if result and game.actions and game.actions[-1].kind == "drop" and game.actions[-1].player == 0:
        cells[-1][1], result = f" {result}", ""  # GNU Backgammon takes it on a line of its own for another double
    for number, (left, right) in enumerate(cells, start=1):
        yield f"{number:>3}) {left:<{_LEFT - 1}} {right}".rstrip() if right else f"{number:>3}) {left}".rstrip()
    if result:
        yield " " * (_RIGHT if game.winner else 6) + result


def _cell(action: Action, cube: int) -> str | None:
    """The text of a cell; None for a resignation, which the result says."""
    if action.kind == "move":
        dice = "" if action.dice is None else f"{action.dice[0]}{action.dice[1]}: "
        return f"{dice}{'????' if action.move is None else action.move}"
    if action.kind == "double":
        return f" Doubles => {cube}"
    return f" Beavers => {cube}" if action.kind == "beaver" else _WORDS.get(action.kind)


def _result(match: Match, game: Game) -> str:
    if game.winner is None:
        return ""
    won = game.score[game.winner] + game.points >= match.length > 0
    return f"Wins {game.points} point{'s' * (game.points != 1)}{' and the match' * won}"

"""Match text (``.mat``, ``.txt``) of Jellyfish, GNU Backgammon and eXtreme Gammon: two columns, a row a turn of both players.

What differs between programs and versions is read all the same: 25 or ``Bar``, 0 or ``Off``, chains, ``(2)``, hits without a star, ``31:``
alone or ``Cannot Move`` for a dance, ``????`` for what is not known, headers ``; [Key "Value"]``, columns that are one blank apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from raccoon.env.notation import DANCES
from raccoon.matches.formats.assemble import Draft, DraftGame, Result
from raccoon.matches.record import Action, ActionKind

__all__ = ["is_mat", "read_mat"]

_LENGTH = re.compile(r"^\s*(\d{1,5})[\s-]*points?\s+match\b", re.IGNORECASE)
_MONEY = re.compile(r"^\s*(?:money|unlimited)\b(?:\s+(?:game|session|match))?\s*$", re.IGNORECASE)
_HEADER = re.compile(r"^\s*;?\s*\[(\w[\w ]*?)\s+\"(.*)\"\]\s*$")
_GAME = re.compile(r"^\s*Game\s+(\d{1,5})\s*:?\s*$", re.IGNORECASE)
_SCORES = (
    re.compile(r"^\s*(\S.*?)\s+:\s*(\d{1,5})\s+(\S.*?)\s+:\s*(\d{1,5})\s*$"),
    re.compile(r"^\s*(\S.*?)\s*:\s*(\d{1,5})\s+(\S.*?)\s*:\s*(\d{1,5})\s*$"),
)
"""``NAME : 3     NAME : 0``, in which a name may have a colon, else ``NAME: 3``."""
_ROW = re.compile(r"^\s*\d+\s*\)")
_ITEM = re.compile(
    r"(?<!\S)(?:(?P<dice>[1-6]\s?[1-6])\s*:"
    r"|(?:(?P<double>(?:Re)?doubles?)\b(?:\s*(?:=>|to)\s*\d+)?|(?P<take>Takes?|Accepts?)\b|(?P<drop>Drops?|Pass(?:es)?|Rejects?)\b"
    r"|(?P<beaver>(?:Beaver|Raccoon)s?)\b(?:\s*(?:=>|to)\s*\d+)?|(?P<resign>Concedes?|Resigns?)\b"
    r"|(?P<wins>Wins?)\s+(?P<points>\d{1,5})\s+points?(?:\s+and\s+the\s+match)?|(?P<unknown>\?{2,}))\.?(?!\S))",
    re.IGNORECASE,
)
_KINDS: tuple[ActionKind, ...] = ("double", "take", "drop", "beaver", "resign")
_LEFT, _HALF = 8, 24
"""A turn of the left player begins within so many characters of the row's number; the left half of a line without a number."""


@dataclass(frozen=True)
class _Item:
    """One thing in a row: ``column`` where it begins, and the text up to the next."""

    kind: str
    column: int
    head: re.Match[str]
    rest: str


def is_mat(text: str) -> bool:
    """Does the text look like match text?"""
    lines = text.splitlines()[:60]
    return any(_LENGTH.match(line) or _GAME.match(line) for line in lines)


def read_mat(text: str, source: str) -> Draft:
    """What the text says, line by line; what cannot be read is in ``Draft.faults``."""
    draft = Draft(source)
    named = False
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.expandtabs(8).replace("\ufeff", "").replace("\xa0", " ")
        if not line.strip():
            continue
        if draft.games and not _GAME.match(line):
            game = draft.games[-1]
            fresh = game.score is None and not game.actions
            score = next((found for pattern in _SCORES if (found := pattern.match(line))), None) if fresh else None
            if score is not None:
                game.score = int(score[2]), int(score[4])
                draft.names, named = (draft.names if named else (score[1], score[3])), True
            else:
                _row(draft, game, line, number)
        else:
            _front(draft, line, number)
    return draft


def _front(draft: Draft, line: str, number: int) -> None:
    """A line of the head of the file, or the one that begins a game."""
    if found := _LENGTH.match(line):
        draft.length = int(found[1])
    elif found := _HEADER.match(line):
        _header(draft, found[1].lower(), found[2])
    elif _GAME.match(line):
        draft.games.append(DraftGame(number))
    elif not (_MONEY.match(line) or line.lstrip().startswith((";", "#"))):
        draft.fault(number, "neither the length of the match, a header nor the start of a game")


def _header(draft: Draft, key: str, value: str) -> None:
    on = value.strip().lower() in ("on", "true", "yes", "1")
    if key in ("crawford", "jacoby"):
        setattr(draft, key, on)
    elif key == "cubelimit":
        draft.cube = value.strip() != "1"
    elif key in ("beaver", "beavers"):
        draft.beavers = on
    elif key in ("player 1", "player 2") and value.strip():
        left = key.endswith("1")
        draft.names = (value.strip(), draft.names[1]) if left else (draft.names[0], value.strip())


def _row(draft: Draft, game: DraftGame, line: str, number: int) -> None:
    """A row of a game: the turns in it, in their order."""
    if line.lstrip().startswith((";", "#")):
        return
    row = _ROW.match(line)
    start = row.end() if row else 0
    items = list(_items(line, start))
    before = line[start : items[0].column].strip() if items else line[start:].strip()
    if before or (not items and row is None):
        draft.fault(number, f"cannot be read: {(before or line.strip())[:60]!r}")
        return
    if game.result is not None:
        draft.fault(number, "the game is over already")
        return
    for index, item in enumerate(items):
        wide = item.column - start >= (_LEFT if row else _HALF)
        player = int(wide or index > 0)
        if index and item.kind in ("resign", "unknown") and item.column - start < _HALF:
            player = 0
        _item(draft, game, item, player, number, alone=len(items) == 1)


def _items(line: str, start: int) -> Iterator[_Item]:
    heads = list(_ITEM.finditer(line, start))
    for index, head in enumerate(heads):
        stop = heads[index + 1].start() if index + 1 < len(heads) else len(line)
        yield _Item(str(head.lastgroup if head.lastgroup != "points" else "wins"), head.start(), head, line[head.end() : stop].strip())


def _item(draft: Draft, game: DraftGame, item: _Item, player: int, number: int, alone: bool) -> None:
    if item.kind == "wins":
        game.result = Result(player, int(item.head["points"]), number)
    elif item.kind == "dice":
        first, second = (int(digit) for digit in item.head["dice"] if digit.isdigit())
        game.actions.append(Action(player, "move", (first, second), _move(item.rest), line=number))
        return
    elif item.kind == "unknown":
        if not (game.actions and game.actions[-1] == Action(player, "move", game.actions[-1].dice, None)):
            game.actions.append(Action(player, "move", line=number))
    else:
        game.actions.append(Action(player, next(kind for kind in _KINDS if kind == item.kind), line=number))
        if item.kind == "beaver":
            draft.beavers = True
    if item.rest and not (alone and item.kind in ("wins", "resign")):
        draft.fault(number, f"cannot be read: {item.rest[:60]!r}")


def _move(text: str) -> str | None:
    """The play as the rules' own reader takes it; None where the file does not tell: ``????``, or nothing, which may be a dance."""
    plain = " ".join(text.lower().split())
    if re.fullmatch(r"|\?+|\((?:illegal.*|no move)\)|illegal play.*", plain):
        return None
    return "" if plain in DANCES else re.sub(r"\s*/\s*", "/", text)

"""SGF files of backgammon (``GM[6]``), as GNU Backgammon writes them: a game a tree, player 0 is White.

Points are letters, ``a`` to ``x`` White's own 1 to 24 (Black's own 24 to 1), ``y`` the bar and ``z`` off the board.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from raccoon.matches.formats.assemble import Draft, DraftGame, Result
from raccoon.matches.record import Action, ActionKind

__all__ = ["is_sgf", "read_sgf"]

_RESULT = re.compile(r"([WB])\+(\d{1,5})R?(?:esign)?", re.IGNORECASE)
_PLAY = re.compile(r"([1-6])([1-6])((?:[a-z]{2})*)")
_CUBE: dict[str, ActionKind] = {"double": "double", "take": "take", "drop": "drop", "beaver": "beaver"}
_PLAYERS = {"W": 0, "B": 1}
_SETUP = ("AB", "AW", "AE", "PL", "CV", "CP", "DI")
_TOKEN = re.compile(r"[();]|([A-Za-z]+)|\[((?:\\.|[^\]\\])*)\]|\s+|(.)", re.DOTALL)


@dataclass
class _Node:
    """Properties of a node: name -> values with the line of each."""

    properties: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def first(self, name: str) -> str:
        return self.properties[name][0][0] if name in self.properties else ""


def is_sgf(text: str) -> bool:
    """Does the text look like SGF?"""
    return text.lstrip("\ufeff \t\r\n").startswith("(;")


def read_sgf(text: str, source: str) -> Draft:
    """The games of a collection; of variations the first is the game."""
    draft = Draft(source, crawford=False)
    for line, nodes in _trees(text, draft):
        _game(draft, nodes, line)
    return draft


def _trees(text: str, draft: Draft) -> list[tuple[int, list[_Node]]]:
    """The nodes of the main line of every tree, with the line where it begins."""
    reader = _Trees(draft)
    for found in _TOKEN.finditer(text.removeprefix("\ufeff")):
        reader.read(found)
    if reader.depth:
        draft.fault(reader.line, "the file ends within a game")
    return reader.trees


class _Trees:
    """What has been read of a collection so far: ``trees``, the ``line`` reached, and how many brackets are open there."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.trees: list[tuple[int, list[_Node]]] = []
        self.depth, self.line, self.name = 0, 1, ""
        self.closed = False  # the main line of this tree has ended: what follows is a variation of it

    def read(self, found: re.Match[str]) -> None:
        """Take the next token of the file."""
        token = found[0]
        if token == "(":
            self._open()
        elif token == ")":
            self.depth, self.closed = max(self.depth - 1, 0), True
        elif not self.closed:
            if self.depth and not found[3]:
                self._in_main_line(found)
            elif token.strip():
                self.draft.fault(self.line, f"no SGF: {token[:40]!r}")
        self.line += token.count("\n")

    def _open(self) -> None:
        if self.depth == 0:
            self.trees.append((self.line, []))
            self.closed = False
        elif self.closed:
            self.draft.fault(self.line, "a variation; only the first line of a game is read")
        self.depth += 1

    def _in_main_line(self, found: re.Match[str]) -> None:
        nodes = self.trees[-1][1]
        if found[0] == ";":
            nodes.append(_Node())
        elif found[1]:
            self.name = found[1]
        elif found[0][0] == "[" and nodes:
            value = re.sub(r"\\(.)", r"\1", found[2], flags=re.DOTALL)
            nodes[-1].properties.setdefault(self.name, []).append((value, self.line))


def _game(draft: Draft, nodes: list[_Node], line: int) -> None:
    game = DraftGame(line)
    if not nodes or nodes[0].first("GM") not in ("6", ""):
        draft.fault(line, "no backgammon: GM is not 6")
        return
    root = nodes[0]
    info = dict(part.split(":", 1) for part, _ in root.properties.get("MI", []) if ":" in part)
    numbers = {key: int(value) for key, value in info.items() if re.fullmatch(r"[0-9]{1,5}", value.strip())}
    draft.length = numbers.get("length", draft.length)
    if "ws" in numbers and "bs" in numbers:
        game.score = numbers["ws"], numbers["bs"]
    rules = root.first("RU").lower().split(":")
    draft.crawford |= "crawford" in rules
    draft.jacoby |= "jacoby" in rules
    game.crawford = True if "crawfordgame" in rules else None
    draft.names = root.first("PW") or draft.names[0], root.first("PB") or draft.names[1]
    found = _RESULT.match(root.first("RE"))
    if found:
        game.result = Result(_PLAYERS[found[1].upper()], int(found[2]), root.properties["RE"][0][1])
    draft.games.append(game)
    for node in nodes:
        _node(draft, game, node)


def _node(draft: Draft, game: DraftGame, node: _Node) -> None:
    for name, values in node.properties.items():
        if name in _SETUP:
            draft.fault(values[0][1], f"{name}: positions that are set up are not read, games begin at the start")
        for value, line in values if name in _PLAYERS else ():
            action = _action(_PLAYERS[name], value, line)
            if action is None:
                draft.fault(line, f"{name}[{value[:40]}]: neither a roll and a play nor a cube action")
            else:
                draft.beavers |= action.kind == "beaver"
                game.actions.append(action)


def _action(player: int, value: str, line: int) -> Action | None:
    value = value.strip()
    if value in _CUBE:
        return Action(player, _CUBE[value], line=line)
    found = _PLAY.fullmatch(value)
    if found is None:
        return None
    letters = found[3]
    steps = [f"{_place(player, letters[at])}/{_place(player, letters[at + 1])}" for at in range(0, len(letters), 2)]
    return Action(player, "move", (int(found[1]), int(found[2])), " ".join(steps) or None, line=line)


def _place(player: int, letter: str) -> str:
    if letter in "yz":
        return "bar" if letter == "y" else "off"
    index = ord(letter) - ord("a")
    return str(index + 1 if player == 0 else 24 - index)

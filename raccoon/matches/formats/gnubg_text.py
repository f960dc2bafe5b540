"""GNU Backgammon's text export: boards and analyses around lines such as ``* NAME moves 8/5 6/5``. A file has one game or more."""

from __future__ import annotations

import re

from raccoon.matches.formats.assemble import Draft, DraftGame, Result
from raccoon.matches.record import Action, ActionKind

__all__ = ["is_gnubg_text", "read_gnubg_text"]

_SCORE = re.compile(r"^The score \(after \d+ games?\) is: (.+?) (\d{1,5}), (.+?) (\d{1,5})(?: \(match to (\d{1,5}) points?\)?(.*))?\s*$")
_ROLL = re.compile(r"^Move number \d+:\s+(.+) to play ([1-6])([1-6])\s*$")
_ACTION = re.compile(r"^\* (\S.*)$")
_WINS = re.compile(r"^(\S.*?) wins (\d{1,5}) points?\.?\s*$")
_CUBE: dict[str, ActionKind] = {
    "doubles": "double", "redoubles": "double", "accepts": "take", "takes": "take", "rejects": "drop", "passes": "drop", "drops": "drop",
    "beavers": "beaver", "accepts and immediately redoubles": "beaver",
}  # fmt: skip
_SIZES = {"resigns": 1, "resigns a single game": 1, "resigns a gammon": 2, "resigns a backgammon": 3}


def is_gnubg_text(text: str) -> bool:
    """Does the text look like an export of GNU Backgammon?"""
    return bool(re.search(r"^The score \(after \d+ games?\) is: ", text, re.MULTILINE))


def read_gnubg_text(text: str, source: str) -> Draft:
    """The moves and cube actions of the export; boards, analyses and statistics are not read."""
    draft, dice = Draft(source), None
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _SCORE.match(line):
            draft.names, draft.length = (found[1], found[3]), int(found[5] or 0)
            crawford = "Crawford" in (found[6] or "") and "post-Crawford" not in found[6]
            draft.games.append(DraftGame(number, (int(found[2]), int(found[4])), crawford))
        elif not draft.games:
            continue
        elif found := _ROLL.match(line):
            dice = int(found[2]), int(found[3])
        elif found := _ACTION.match(line):
            _action(draft, found[1].strip(), dice, number)
        elif (found := _WINS.match(line)) and found[1] in draft.names:
            draft.games[-1].result = Result(draft.names.index(found[1]), int(found[2]), number)
    return draft


def _action(draft: Draft, said: str, dice: tuple[int, int] | None, line: int) -> None:
    names = [player for player in (0, 1) if said.startswith(f"{draft.names[player]} ")]
    if not names:
        draft.fault(line, f"neither player: {said[:60]!r}")
        return
    player = max(names, key=lambda each: len(draft.names[each]))
    words = said[len(draft.names[player]) :].strip().rstrip(".")
    actions = draft.games[-1].actions
    verb, _, rest = words.partition(" ")
    if verb == "moves" or words == "cannot move":
        if dice is None:
            draft.fault(line, "a move without a roll before it")
        else:
            actions.append(Action(player, "move", dice, rest if verb == "moves" else "", line=line))
    elif words in _CUBE:
        draft.beavers |= _CUBE[words] == "beaver"
        actions.append(Action(player, _CUBE[words], line=line))
    elif words in _SIZES:
        actions.append(Action(player, "resign", line=line))
    else:
        draft.fault(line, f"cannot be read: {words[:60]!r}")

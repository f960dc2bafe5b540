"""Lists of positions: XGIDs, GNUBG IDs (``PositionID:MatchID``) and Position IDs one a line, and eXtreme Gammon's text exports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from raccoon.contracts import RaccoonError
from raccoon.matches.formats.text import read_text
from raccoon.matches.record import Fault
from raccoon.search.analysis.questions import Question, read_line

__all__ = ["PositionList", "read_positions"]

_EXPORT = re.compile(r"^(?:X:.+ O:|eXtreme Gammon Version|Analyzed in |Score is X:)", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class PositionList:
    """The positions of a file in their order, ``line`` in each; ``faults``: the lines that hold none."""

    positions: tuple[Question, ...]
    faults: tuple[Fault, ...] = ()


def read_positions(path: str | Path, strict: bool = True) -> PositionList:
    """The positions in ``path``: a line ``ID [DICE[: MOVE]] [# comment]``, or the lines ``XGID=..`` of an XG export.

    ``strict``: the first line that cannot be read raises RaccoonError; else such lines are in ``faults``.
    """
    text = read_text(path)
    export = _EXPORT.search(text) is not None
    found: list[Question] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if export and not line.lstrip().startswith("XGID="):
            continue
        try:
            if question := read_line(line, number):
                found.append(question)
        except RaccoonError as error:
            faults.append(Fault(str(path), number, str(error)))
    if strict and faults:
        raise RaccoonError(f"{faults[0]}; strict=false leaves such lines out")
    return PositionList(tuple(found), tuple(faults))

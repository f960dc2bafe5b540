"""The matches that the page has opened: read as far as they can be, analysed while somebody asks for more."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from raccoon.contracts import RaccoonError
from raccoon.matches.analysis import analyse_decisions, decisions_of
from raccoon.matches.decisions import Decision
from raccoon.matches.read import parse_match
from raccoon.matches.record import LABELS, Match
from raccoon.matches.summary import summarise
from raccoon.report.equity_graph import equity_graph
from raccoon.serve import fields

__all__ = ["LONGEST", "OpenedMatches"]

LONGEST = 1 << 20
"""Characters of the longest match file."""
_KEPT = 8
_PART_S = 0.5
"""Analysis between two answers: other questions are answered in between."""
Body = Mapping[str, Any]


@dataclass
class _Opened:
    match: Match
    decisions: list[Decision]
    records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


class OpenedMatches:
    """``judge`` gives the name of the depth that a message asks for, and the player that searches as deep."""

    def __init__(self, judge: Callable[[Body], tuple[str, Any]]) -> None:
        self._judge = judge
        self._opened: OrderedDict[str, _Opened] = OrderedDict()

    def match(self, body: Body) -> dict[str, Any]:
        """The match in ``text``: its ``decisions`` (see ``Decision.named``), its games, and the lines that were left out; ``key`` names it
        from here on."""
        text, name = fields.text(body, "text", most=LONGEST), fields.text(body, "name", "match")
        match = parse_match(text, name, strict=False)
        key = hashlib.sha256(text.encode(errors="replace")).hexdigest()
        self._opened[key] = one = _Opened(match, decisions_of(match))
        while len(self._opened) > _KEPT:
            self._opened.popitem(last=False)
        return {
            "key": key,
            "length": match.length,
            "games": [{"score": game.score, "winner": game.winner, "points": game.points} for game in match.games],
            "decisions": [decision.named() for decision in one.decisions],
            "faults": [{"line": fault.line, "reason": fault.reason} for fault in match.faults],
        }

    def more(self, body: Body) -> dict[str, Any]:
        """Records of the match ``key`` at ``depth`` from number ``have`` on, as far as half a second of analysis goes; with the last
        one come the sums of the ``players`` and the ``graph`` of the equity."""
        one = self._opened.get(fields.text(body, "key"))
        if one is None:
            raise RaccoonError("key: that match is not open any more; open its file again")
        name, judge = self._judge(body)
        records, have = one.records.setdefault(name, []), fields.integer(body, "have", 0, len(one.decisions))
        if have >= len(records):
            until = time.monotonic() + _PART_S
            for record in analyse_decisions(one.decisions[len(records) :], judge):
                records.append(record)
                if time.monotonic() > until:
                    break
        done = len(records) == len(one.decisions)
        last = {"players": summarise(one.match, records), "graph": equity_graph(records, LABELS)} if done else {"players": None}
        return {"records": records[have:], **last}

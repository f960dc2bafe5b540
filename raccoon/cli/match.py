"""``search.py match=FILE``: the analysis of a match, or of all matches of a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from raccoon import checks
from raccoon.cli.program import records
from raccoon.contracts import RaccoonError
from raccoon.files import json_text, make_folder, read_regular, write_json, write_text

__all__ = ["analyse_matches"]

_OTHERS = ("position", "file", "dice", "move", "svg")


def _check(config: dict[str, Any]) -> None:
    """Raise RaccoonError for keys of positions that ``match`` does not go with, and for other bad values."""
    given = [key for key in _OTHERS if config[key] is not None]
    if given:
        raise RaccoonError(f"{given[0]}: match=FILE analyses a whole match; leave {given[0]} out")
    for key in ("strict", "names", "json", "resume"):
        checks.flag(key, config[key])
    for key in ("match", "out"):
        if config[key] is not None and not (isinstance(config[key], str) and config[key].strip("/.")):
            raise RaccoonError(f"{key}={checks.quoted(config[key])}: give a path")
    if config["out"] is not None and Path(config["out"]).exists() and not Path(config["out"]).is_dir():
        raise RaccoonError(f"out={config['out']}: is a file; match=FILE writes a folder (records, JSON, an HTML report)")


def analyse_matches(config: dict[str, Any], make_player: Callable[[dict[str, Any]], Any]) -> None:
    """Read, analyse by the player that is made then, and show; ``out`` keeps everything in a folder, where the same command continues."""
    _check(config)
    from raccoon.matches.page import player_table
    from raccoon.matches.read import read_match, read_matches
    from raccoon.matches.summary import combined

    path = Path(config["match"])
    matches = read_matches(path, config["strict"]) if path.is_dir() else [read_match(path, config["strict"])]
    for fault in (fault for match in matches for fault in match.faults):
        print(fault, file=sys.stderr)
    if config["out"] is not None:
        make_folder(config["out"])
    player = make_player(config)
    asked = [_Judged(match, config, player) for match in matches]
    documents = [one.run() for one in asked]
    judged = [one for one in asked if one.match.games]
    if config["json"]:
        print(json_text(documents if path.is_dir() else documents[0]))
    elif len(judged) > 1:
        players: dict[str, list[Any]] = {}
        for one in judged:
            for name, row in zip(one.match.names, one.rows, strict=True):
                players.setdefault(name, []).append(row)
        labels = list(players) if config["names"] else [f"player {number}" for number in range(1, len(players) + 1)]
        print("\n" + "\n".join(player_table([combined(rows) for rows in players.values()], labels, False)))
    if faults := sum(len(match.faults) for match in matches):
        raise RaccoonError(f"match={path}: {faults:,} line{'s' * (faults != 1)} left out")


class _Judged:
    """One match and what is known of it; ``rows``: the sums of its players."""

    def __init__(self, match: Any, config: dict[str, Any], player: Any) -> None:
        from raccoon.matches.record import LABELS

        self.match, self.config, self.player = match, config, player
        self.names = match.names if config["names"] else LABELS
        self.rows: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        """Analyse, show the table and write the files; the document of the match. One without games has its faults alone."""
        from raccoon.matches.analysis import decisions_of
        from raccoon.matches.page import decision_lines, player_table
        from raccoon.matches.summary import summarise
        from raccoon.search.analysis.page import source_of

        games = bool(self.match.games)
        found = self._records(decisions_of(self.match)) if games else []
        self.rows = summarise(self.match, found)
        judge = f"{source_of(self.player)}, search {self.player.search.name}"
        if games and not self.config["json"]:
            print(f"{self.match.source} ({judge})")
            print("\n".join(decision_lines(self.match, found, self.names)))
            print("\n" + "\n".join(player_table(self.rows, self.names, bool(self.match.length))))
        document = {
            "match": Path(self.match.source).name,
            "judge": judge,
            "length": self.match.length,
            "players": [{"player": name} | row for name, row in zip(self.names, self.rows, strict=True)],
            "decisions": found,
            "faults": [vars(fault) for fault in self.match.faults],
        }
        if games:
            self._write(document)
        return document

    def _records(self, decisions: Sequence[Any]) -> list[dict[str, Any]]:
        """The records of all decisions; those in the folder ``out`` are read, the others are added to it as they come."""
        from raccoon.executor import fingerprint
        from raccoon.matches.analysis import analyse_decisions
        from raccoon.progress import track

        if self.config["out"] is None:
            return list(track(analyse_decisions(decisions, self.player), len(decisions), "analysis", "decisions"))
        path = self._path(".jsonl")
        mark = fingerprint({"player": self.config["player"], "match": True})
        done = records.kept(path, mark, (one.named() for one in decisions), self.config["resume"])
        new = records.append(path, mark, analyse_decisions(decisions[done:], self.player))
        for _ in track(new, len(decisions) - done, "analysis", "decisions"):
            pass
        return [{key: value for key, value in json.loads(line).items() if key != "job"} for line in read_regular(path).splitlines()]

    def _write(self, document: dict[str, Any]) -> None:
        if self.config["out"] is None:
            return
        from raccoon.matches.html import report

        write_json(self._path(".json"), document)
        write_text(self._path(".html"), report(self.match, document, self.names))
        if not self.config["json"]:
            print(f"report: {self._path('.html')}")

    def _path(self, suffix: str) -> Path:
        return Path(self.config["out"]) / f"{Path(self.match.source).name}{suffix}"

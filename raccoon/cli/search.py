"""``raccoon-search``, ``python search.py``: what a player thinks of a position, a list of them or a file."""

from __future__ import annotations

import itertools
import json
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raccoon.cli.match import analyse_matches
from raccoon.cli.program.app import main as run_command
from raccoon.cli.program.app import section

if TYPE_CHECKING:
    from raccoon.search.analysis.questions import Question

__all__ = ["main"]

_KEYS = ("json", "top", "cubeful", "diagram", "resume", "dice", "move", "position", "file", "out", "match", "strict", "names", "svg")
_SHOWN = 20
_MOST = 1 << 28
"""Bytes of the largest file of questions."""


@dataclass(frozen=True)
class _Refused:
    """A line of a file that is no question, and why."""

    text: str
    line: int
    reason: str

    def as_record(self) -> dict[str, Any]:
        """Its record."""
        return {"input": self.text, "line": self.line, "error": self.reason}


class _Lines:
    """The entries of a file, in memory as its text: each is read again whenever it is asked for."""

    def __init__(self, lines: Sequence[bytes], config: dict[str, Any]) -> None:
        self._lines, self._config = lines, config
        self._numbers = array("I")
        self.refused = 0
        """How many of them are no questions; these are told of here."""
        for number in range(1, len(lines) + 1):
            entry = self._entry(number)
            if entry is not None:
                self._numbers.append(number)
            if isinstance(entry, _Refused):
                self._tell(entry)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Question | _Refused]:
        for number in self._numbers:
            entry = self._entry(number)
            assert entry is not None
            yield entry

    def _entry(self, number: int) -> Question | _Refused | None:
        return _line(self._lines[number - 1], number, self._config)

    def _tell(self, entry: _Refused) -> None:
        self.refused += 1
        if self.refused <= _SHOWN:
            print(f"{self._config['file']}, line {entry.line}: {entry.reason}", file=sys.stderr)


def _player(config: dict[str, Any]) -> Any:
    from raccoon.config.instantiate import build
    from raccoon.contracts import Player, RaccoonError
    from raccoon.search.analysis.questions import parts_of

    player = build(section(config, "player"), "player", Player)
    if parts_of(player) is None:
        raise RaccoonError(f"player={getattr(player, 'name', player)}: search.py analyses players that have an engine and a search")
    return player


def _job(config: dict[str, Any], _: Any) -> None:
    from raccoon.contracts import RaccoonError
    from raccoon.progress import track

    for key in _KEYS:
        section(config, key)
    if config["match"] is not None:
        analyse_matches(config, _player)
        return
    _check(config)
    entries = _questions(config)
    if config["svg"] is not None:
        _draw(config["svg"], entries)
    player = _player(config)
    if config["out"] is not None:
        _write(config, entries, player)
    else:
        records = track(_records(config, entries, player), len(entries), "analysis", "positions")
        if config["json"]:
            _print_json(records)
        else:
            _show(entries, records, player, config["diagram"])
    if isinstance(entries, _Lines) and entries.refused:
        raise RaccoonError(
            f"file={config['file']}: {entries.refused:,} of {len(entries):,} lines left out; correct them and run the command again"
        )


def _check(config: dict[str, Any]) -> None:
    from raccoon.checks import flag, quoted
    from raccoon.contracts import RaccoonError
    from raccoon.files import check_suffix

    for key in ("json", "diagram", "resume"):
        flag(key, config[key])
    if config["cubeful"] is not None and not isinstance(config["cubeful"], bool):
        raise RaccoonError(f"cubeful={quoted(config['cubeful'])}: give true, false, or null (as the position says)")
    top = config["top"]
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise RaccoonError(f"top={quoted(top)}: give a whole number from 1, or null for all")
    for key in ("file", "out", "svg"):
        if config[key] is not None and not (isinstance(config[key], str) and config[key].strip("/.") and "\0" not in config[key]):
            raise RaccoonError(f"{key}={quoted(config[key])}: give the name of a file, in quotes where it reads as a number")
    if config["out"] is not None:
        check_suffix(config["out"], "a line of JSON for each position", ".jsonl", ".ndjson")
        if config["json"]:
            raise RaccoonError("json=true: leave it out where out=FILE is given; that file is JSON, a line for each position")


def _draw(path: str, entries: list[Question] | _Lines) -> None:
    """Write the board of the one position, with the play that is asked about."""
    from raccoon.contracts import RaccoonError
    from raccoon.files import check_suffix, write_text
    from raccoon.matches.svg import board_svg

    if isinstance(entries, _Lines) or len(entries) > 1:
        raise RaccoonError(f"svg={path}: holds one board; ask about one position")
    check_suffix(path, "a drawing", ".svg")
    write_text(path, board_svg(entries[0].position, move=entries[0].move, alone=True))


def _records(config: dict[str, Any], entries: Iterable[Question | _Refused], player: Any) -> Iterator[dict[str, Any]]:
    """The record of every entry, in their order. In memory are the entries that are analysed together."""
    from raccoon.search.analysis.answers import analyse

    entries, ahead = itertools.tee(entries)
    questions = (entry for entry in ahead if not isinstance(entry, _Refused))
    found = analyse(questions, player.engine, player.search, player.cube, config["cubeful"])
    for entry in entries:
        yield entry.as_record() if isinstance(entry, _Refused) else _cut(next(found), config["top"])


def _write(config: dict[str, Any], entries: list[Question] | _Lines, player: Any) -> None:
    """Records of the entries that the file ``out`` does not hold yet, added to it."""
    from raccoon.cli.program import records
    from raccoon.executor import fingerprint
    from raccoon.progress import track

    path = Path(config["out"])
    mark = fingerprint({"player": section(config, "player"), "top": config["top"], "cubeful": config["cubeful"]})
    done = records.kept(path, mark, (entry.as_record() for entry in entries), config["resume"])
    found = _records(config, itertools.islice(entries, done, None), player)
    for _ in track(records.append(path, mark, found), len(entries) - done, "analysis", "positions"):
        pass
    print(f"{path}: {len(entries)} positions, {len(entries) - done} of them new")


def _print_json(records: Iterator[dict[str, Any]]) -> None:
    """One document, a list, of which one record is in memory at a time."""
    before = "[\n "
    for record in records:
        print(before + json.dumps(record, indent=1).replace("\n", "\n "), end="")
        before = ",\n "
    print("\n]")


def _show(entries: list[Question] | _Lines, records: Iterator[dict[str, Any]], player: Any, diagram: bool) -> None:
    from raccoon.search.analysis.page import page, source_of

    source, shown = source_of(player), 0
    for entry, record in zip(entries, records, strict=True):
        if not isinstance(entry, _Refused):  # told of already
            print(("\n" if shown else "") + page(entry.position.board, record, source, diagram))
            shown += 1


def _questions(config: dict[str, Any]) -> list[Question] | _Lines:
    """Every question of ``position`` or ``file``, all read once before the first is searched."""
    from raccoon.contracts import RaccoonError
    from raccoon.files import read_bounded
    from raccoon.search.analysis.questions import read_question

    position, file = config["position"], config["file"]
    if (position is None) is (file is None):
        raise RaccoonError(
            "position: give one (a Position ID, an XGID or a GNUBG ID), a list of them, or file=PATH with one a line (match=PATH: a match)"
        )
    if position is not None and position == []:
        raise RaccoonError("position=[]: holds no position")
    if file is None:
        return [read_question(text, config["dice"], config["move"]) for text in (position if isinstance(position, list) else [position])]
    try:
        lines = read_bounded(file, _MOST).removeprefix(b"\xef\xbb\xbf").splitlines()
    except (OSError, ValueError) as error:
        raise RaccoonError(f"file={file}: cannot be read ({error})") from error
    entries = _Lines(lines, config)
    if entries.refused > _SHOWN:
        print(f"{file}: {entries.refused - _SHOWN:,} more lines like these", file=sys.stderr)
    if entries.refused == len(entries):
        raise RaccoonError(f"file={file}: holds no position")
    return entries


def _line(line: bytes, number: int, config: dict[str, Any]) -> Question | _Refused | None:
    """The question in a line; None where it is empty."""
    from raccoon.contracts import RaccoonError
    from raccoon.search.analysis.questions import read_line

    try:
        return read_line(line.decode(), number, config["dice"], config["move"])
    except (RaccoonError, UnicodeDecodeError) as error:
        return _Refused(line.decode(errors="replace").strip()[:80], number, str(error))


def _cut(record: dict[str, Any], top: int | None) -> dict[str, Any]:
    """The best ``top`` plays, and the one that was asked about."""
    if "candidates" not in record:
        return record
    shown = record["candidates"][:top]
    played = [row for row in record["candidates"][len(shown) :] if record["played"] and row["move"] == record["move"]]
    return record | {"candidates": shown + played}


def main() -> None:
    """Analyse positions; see ``--help``."""
    run_command("search", _job, run_folder=False)


if __name__ == "__main__":
    main()

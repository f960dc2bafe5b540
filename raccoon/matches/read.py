"""Reads a match from a file of any known format, or all matches of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from raccoon.contracts import RaccoonError
from raccoon.matches.formats.assemble import Draft, assemble
from raccoon.matches.formats.gnubg_text import is_gnubg_text, read_gnubg_text
from raccoon.matches.formats.mat import is_mat, read_mat
from raccoon.matches.formats.sgf import is_sgf, read_sgf
from raccoon.matches.formats.text import read_text
from raccoon.matches.record import Fault, Match

__all__ = ["SUFFIXES", "parse_match", "read_match", "read_matches"]

SUFFIXES = (".mat", ".txt", ".sgf")
"""Of the files that ``read_matches`` looks at."""
_FORMATS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Draft]], ...] = (
    (is_sgf, read_sgf),
    (is_gnubg_text, read_gnubg_text),
    (is_mat, read_mat),
)


def parse_match(text: str, source: str = "match", strict: bool = True) -> Match:
    """The match in a text: match text (``.mat``), SGF or GNUBG's text export; ``source`` names it in messages.

    ``strict``: the first line that cannot be read or played raises RaccoonError with the line and the reason; else what can be
    played is in the match and every line left out in its ``faults``. Raises RaccoonError for other formats and for no games.
    """
    reader = next((read for looks, read in _FORMATS if looks(text)), None)
    if reader is None:
        hint = "; it has XGIDs: search.py file=PATH takes lists of positions" if "XGID=" in text else ""
        raise RaccoonError(f"{source}: neither match text (.mat), SGF nor a text export of GNU Backgammon{hint}")
    match = assemble(reader(text, source), strict)
    if not match.games and not match.faults:
        raise RaccoonError(f"{source}: holds no games")
    return match


def read_match(path: str | Path, strict: bool = True) -> Match:
    """``parse_match`` of a file."""
    return parse_match(read_text(path), str(path), strict)


def read_matches(folder: str | Path, strict: bool = True) -> list[Match]:
    """The matches of all files of a folder (``SUFFIXES``), by name. A file of another kind is a match without games and with a fault,
    or raises RaccoonError where ``strict``; so does a folder without such files."""
    folder = Path(folder)
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES) if folder.is_dir() else []
    if not paths:
        raise RaccoonError(f"match={folder}: no folder with files {', '.join(SUFFIXES)}")
    found = []
    for path in paths:
        try:
            found.append(read_match(path, strict))
        except RaccoonError as error:
            if strict:
                raise
            found.append(Match(0, (), source=str(path), faults=(Fault(str(path), 1, str(error).removeprefix(f"{path}: ")),)))
    return found

"""``python -m raccoon.cli.bearoff [checkers=6 [pips=18]]``: builds a table of exact cubeful bear-off equities.

It holds the positions with at most so many checkers a side (1 to 8), and those with at most so many pips (0 to 24; 0 if left out) to
go. Without arguments: the table that players use, 6 checkers or 18 pips; they build it themselves when they first need it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from raccoon.checks import quoted
from raccoon.cli.program.app import plain_main
from raccoon.contracts import RaccoonError

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> str:
    """Build the table unless it is there, and return the text to print. Raises RaccoonError."""
    usage = f"usage: {(__doc__ or '').strip()}"
    if any(argument in ("-h", "--help") for argument in arguments):
        return usage
    given: dict[str, str] = {}
    for argument in arguments:
        key, _, text = argument.partition("=")
        given[key] = text
    if len(given) < len(arguments) or not given.keys() <= {"checkers", "pips"}:
        raise RaccoonError(usage)
    for key, text in given.items():
        if not text.isdecimal() or len(text) > 2:
            raise RaccoonError(f"{key}={quoted(text)}: give a small number; {usage}")
    from raccoon.cube.exact_bearoff import LAST_ROLLS, CubefulBearoff, table_name
    from raccoon.engine.exact_bearoff.table_files import table_path

    size = (int(given.get("checkers", LAST_ROLLS[0])), int(given.get("pips", 0))) if given else LAST_ROLLS
    path, start = table_path(table_name(*size)), time.perf_counter()
    before = path.stat().st_mtime_ns if os.path.exists(path) else None
    CubefulBearoff(*size)
    if not os.path.exists(path):
        raise RaccoonError(f"{path}: the table could not be written; free some space or name another folder in $RACCOON_CACHE")
    said = "was there already" if path.stat().st_mtime_ns == before else f"built in {time.perf_counter() - start:.1f} s"
    return f"{path}: {path.stat().st_size / 1e6:.1f} MB, {said}"


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


if __name__ == "__main__":
    main()

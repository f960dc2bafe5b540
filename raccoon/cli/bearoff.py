"""``python -m raccoon.cli.bearoff [checkers=6]``: builds the table of exact cubeful bear-off equities (1 to 8 checkers a side)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from raccoon.checks import quoted
from raccoon.cli.app import plain_main
from raccoon.contracts import RaccoonError

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> str:
    """Build the table unless it is there, and return the text to print. Raises RaccoonError."""
    usage = f"usage: {(__doc__ or '').strip()}"
    if any(argument in ("-h", "--help") for argument in arguments):
        return usage
    name, _, text = (arguments[0] if arguments else "checkers=6").partition("=")
    if len(arguments) > 1 or name != "checkers":
        raise RaccoonError(usage)
    if not text.isdecimal() or len(text) > 2:
        raise RaccoonError(f"checkers={quoted(text)}: give 1 to 8; {usage}")
    from raccoon.cube.bearoff import CubefulBearoff, table_name
    from raccoon.engine.bearoff_files import table_path

    path, start = table_path(table_name(int(text))), time.perf_counter()
    before = path.stat().st_mtime_ns if path.exists() else None
    CubefulBearoff(int(text))
    if not path.exists():
        raise RaccoonError(f"{path}: the table could not be written; free some space or name another folder in $RACCOON_CACHE")
    said = "was there already" if path.stat().st_mtime_ns == before else f"built in {time.perf_counter() - start:.1f} s"
    return f"{path}: {path.stat().st_size / 1e6:.1f} MB, {said}"


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


if __name__ == "__main__":
    main()

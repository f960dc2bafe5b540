"""``python -m raccoon.cli.dashboard RUNS... [--out dashboard.html]``: one static page of many runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from raccoon.cli.program.app import plain_main
from raccoon.files import check_suffix

__all__ = ["main", "run"]

_ABOUT = """One static HTML page of runs of train.py and evaluate.py: curves by epoch, results with their intervals, settings
that differ, every figure, plots and provenance. It needs no network; unfinished and broken runs are shown as such."""


def run(arguments: Sequence[str]) -> str:
    """Do what the arguments say and return the text to print. Raises RaccoonError naming the folder or file."""
    options = _parser().parse_args(list(arguments))
    from raccoon.dashboard import read_runs, write_page

    check_suffix(options.out, "a page", ".html", ".htm")
    records = read_runs(options.runs)
    write_page(records, options.out, images=not options.no_images)
    bad = [f"{record.name} ({record.state})" for record in records if record.state != "done"]
    unfinished = f"; not done: {', '.join(bad)}" if bad else ""
    size = options.out.stat().st_size / 1e3
    return f"dashboard: {options.out} ({len(records)} run{'' if len(records) == 1 else 's'}, {size:,.0f} kB){unfinished}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m raccoon.cli.dashboard", description=_ABOUT)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUNS", help="run folders, or folders that hold some at any depth (sweeps)")
    parser.add_argument("--out", type=Path, default=Path("dashboard.html"), metavar="FILE", help="the page to write (default: %(default)s)")
    parser.add_argument("--no-images", action="store_true", help="leave out the plots that the runs drew: a much smaller page")
    return parser


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


if __name__ == "__main__":
    main()

"""``python -m raccoon.cli.collect SWEEP [OUT]``: one table and plot of a sweep's runs (PR or arenas), in OUT (SWEEP/summary).

A table that an earlier call left there is replaced.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from raccoon.cli.program.app import plain_main
from raccoon.contracts import RaccoonError
from raccoon.files import make_folder

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> str:
    """Do what the arguments say and return the text to print. Raises RaccoonError."""
    usage = f"usage: {(__doc__ or '').strip()}"
    if any(argument in ("-h", "--help") for argument in arguments):
        return usage
    if len(arguments) not in (1, 2) or any(argument.startswith("-") for argument in arguments):
        raise RaccoonError(usage)
    from raccoon.eval.sweep.by_pr import collect
    from raccoon.report import report_files

    source = Path(arguments[0])
    target = Path(arguments[1]) if len(arguments) == 2 else source / "summary"
    earlier = report_files.read(target) if (target / "report.json").exists() else None
    if earlier is not None and earlier.evaluator != "collect":
        report_files.check_free(target)
    result = collect(source)
    make_folder(target)
    with tempfile.TemporaryDirectory(prefix=".", suffix=".tmp", dir=target) as made:
        report_files.write(result, made)
        for name in [*result.files, "report.json"]:  # which is read first, and so comes last
            os.replace(Path(made) / name, target / name)
    for name in set(earlier.files if earlier else ()) - set(result.files):
        (target / Path(name).name).unlink(missing_ok=True)
    report_files.show(result)
    return f"report: {target / 'report.md'}"


def main() -> None:
    """Entry point; errors go to stderr with exit status 2."""
    plain_main(run)


if __name__ == "__main__":
    main()

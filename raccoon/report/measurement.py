"""Running an evaluator: what every caller does around it, and no evaluator does itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raccoon.contracts import Evaluator, Report
from raccoon.report.report_files import check_free

__all__ = ["measure"]


def measure(evaluator: Evaluator, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
    """The report of ``evaluator`` with the seconds that it took this time. Nothing is written but the evaluator's own files.

    Raises RaccoonError, before anything is measured, when ``run_dir`` already holds a report.
    """
    check_free(run_dir)
    began = time.perf_counter()
    report = evaluator.run(player, opponent, run_dir, seed)
    report.seconds = time.perf_counter() - began
    return report

"""Running an evaluator: the time is the caller's, and a folder that holds a report is refused before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raccoon.contracts import RaccoonError, Report
from raccoon.report.measurement import measure
from raccoon.report.report_files import write


class Counts:
    """Counts how often it was run."""

    name = "counts"

    def __init__(self) -> None:
        self.runs = 0

    def run(self, player: Mapping[str, Any], opponent: Mapping[str, Any] | None, run_dir: Path, seed: int) -> Report:
        self.runs += 1
        return Report(self.name, str(player["name"]), None, seed)


def test_the_report_says_how_long_it_took_and_a_finished_folder_is_refused(tmp_path: Path) -> None:
    evaluator = Counts()
    report = measure(evaluator, {"name": "a"}, None, tmp_path, 3)
    assert (report.player, report.seed, evaluator.runs) == ("a", 3, 1)
    assert report.seconds > 0
    write(report, tmp_path)
    with pytest.raises(RaccoonError, match="already holds the result of a run"):
        measure(evaluator, {"name": "a"}, None, tmp_path, 3)
    assert evaluator.runs == 1

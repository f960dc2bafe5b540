"""Reports: what is written, that it reads back, and that no result is ever overwritten."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from raccoon.contracts import Figure, RaccoonError, Report
from raccoon.report import plots, report_files


def example(**changes) -> Report:
    fields = {
        "evaluator": "arena",
        "player": "a",
        "opponent": "b",
        "seed": 3,
        "seconds": 1.25,
        "figures": {"ppg": Figure(0.0471234, 0.04, 0.05, 18_000), "beta": Figure(math.nan)},
        "tables": {"PR by plan": [{"plan": "racing | race", "PR": Figure(1.5, 1.0, 2.0, 40), "n": np.int64(40), "ok": True}]},
        "plots": {"line": lambda canvas: canvas.subplots().plot([0, 1])},
        "notes": ["a note"],
    }
    return Report(**{**fields, **changes})


def test_every_file_is_written_and_reads_back(tmp_path: Path) -> None:
    path = report_files.write(example(), tmp_path)
    assert path == tmp_path / "report.json"
    assert {p.name for p in tmp_path.iterdir()} == {"report.json", "report.md", "pr-by-plan.csv", "line.png"}
    assert (tmp_path / "line.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads(path.read_text(), parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    assert set(data) == {"evaluator", "player", "opponent", "seed", "seconds", "versions", "figures", "tables", "notes", "files"}
    assert data["figures"]["beta"]["value"] is None
    assert data["versions"]["numpy"] == np.__version__
    again = report_files.read(tmp_path)
    assert again.figures["ppg"] == example().figures["ppg"]
    assert math.isnan(again.figures["beta"].value)
    assert again.tables == example().tables
    assert again.files == ["report.md", "pr-by-plan.csv", "line.png"]


def test_readable_forms(tmp_path: Path) -> None:
    report_files.write(example(), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "| ppg | 0.0471 | [0.04, 0.05] | 18,000 |" in text
    assert "racing \\| race" in text
    assert "![line](line.png)" in text
    with open(tmp_path / "pr-by-plan.csv", newline="") as handle:
        assert next(csv.DictReader(handle)) == {
            "plan": "racing | race", "PR": "1.5", "PR lo": "1.0", "PR hi": "2.0", "n": "40", "ok": "True",
        }  # fmt: skip
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(report_files.render(report_files.read(tmp_path)))
    shown = console.export_text()
    assert "arena: a v b (seed 3" in shown
    assert "0.0471" in shown
    assert "1.5 [1, 2]" in shown
    assert "a note" in shown


def test_a_result_is_never_overwritten(tmp_path: Path) -> None:
    report_files.write(example(), tmp_path)
    before = (tmp_path / "report.json").read_bytes()
    with pytest.raises(RaccoonError, match=r"report\.json: already holds"):
        report_files.write(example(seed=4), tmp_path)
    assert (tmp_path / "report.json").read_bytes() == before


def test_a_failing_plot_costs_a_note_not_the_result(tmp_path: Path) -> None:
    def broken(canvas) -> None:
        raise ZeroDivisionError("nothing to draw")

    report_files.write(example(plots={"bad": broken}), tmp_path)
    again = report_files.read(tmp_path)
    assert "bad.png could not be drawn: nothing to draw" in again.notes
    assert not (tmp_path / "bad.png").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"figures": {}}', '{"figures": {"x": 1}, "tables": {}}'])
def test_what_is_not_a_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(RaccoonError, match=r"report\.json"):
        report_files.read(path)


def test_plots_draw_what_they_are_given(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    walk = rng.normal(0, 1, 300)
    drawn = {
        "bars": plots.bars({"racing": Figure(1.0, 0.5, 1.5, 10), "priming": Figure(2.0)}, "PR"),
        "histogram": plots.histogram({"a": np.abs(walk)}, "error"),
        "scatter": plots.scatter(walk, walk + 1, "luck", "result"),
        "convergence": plots.convergence({"raw": walk, "vr": walk / 6}, "ppg"),
        "one game": plots.convergence({"raw": np.ones(1)}, "ppg"),
    }
    result = example(plots=drawn)
    report_files.write(result, tmp_path)
    assert [p for p in drawn if not (tmp_path / f"{p}.png").exists()] == []
    assert result.notes == ["a note"]

"""Which panels a set of runs gives: every logged scalar has one, and points are the numbers of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from raccoon.dashboard import read_runs
from raccoon.dashboard.charts import Chart
from raccoon.dashboard.panels import headline, sections


def charts(*folders: Path) -> dict[str, Chart]:
    return {chart.title: chart for section in sections(read_runs(folders)) for chart in section.charts}


def test_every_logged_scalar_has_a_panel(make_training, make_epochs, tmp_path: Path) -> None:
    found = charts(make_training(tmp_path / "a"))
    logged = {*make_epochs(1)[0]} - {"epoch", "step", "val/pr", "val/vr_ppg", "val/vr_ppg_half"}
    assert logged <= set(found)
    assert {"PR on the benchmark", "Points per game while training", "PR of finished runs", "Points per game of finished runs"} <= set(
        found
    )


def test_a_score_is_a_point_where_it_was_measured(make_training, tmp_path: Path) -> None:
    found = charts(make_training(tmp_path / "a", count=9))
    for title in ("PR on the benchmark", "PR on the benchmark, by time", "Points per game while training"):
        (trace,) = found[title].traces
        assert len(trace.marks) == 5, title  # epochs 1, 3, 5, 7 and 9: those between carry the last score
    (trace,) = found["Points per game while training"].traces
    assert all(mark.low is not None and mark.high is not None for mark in trace.marks)
    assert "epoch 3: -0.3333 [-0.4333, -0.2333]" in trace.marks[1].tip
    assert len(found["train/loss"].traces[0].marks) == 9


def test_runs_keep_their_style_in_every_chart(make_run, make_training, tmp_path: Path) -> None:
    found = charts(make_run(tmp_path / "empty"), make_training(tmp_path / "a"), make_training(tmp_path / "b"))
    for chart in found.values():
        assert {trace.run: trace.number for trace in chart.traces if trace.run} == {"a": 1, "b": 2}


def test_runs_with_nothing_to_draw_give_no_panels(make_run, tmp_path: Path) -> None:
    assert charts(make_run(tmp_path / "a"), make_run(tmp_path / "b", state="failed")) == {}


def test_a_metric_that_was_never_a_number_gives_no_panel(make_run, tmp_path: Path) -> None:
    found = charts(
        make_run(tmp_path / "a", rows=[{"epoch": 1, "val/mse": "nan", "val/pr": "nan"}, {"epoch": 2, "val/mse": "inf", "val/pr": ""}])
    )
    assert found == {}


def test_a_gap_in_a_metric_is_a_gap_in_its_points(make_run, tmp_path: Path) -> None:
    rows = [{"epoch": epoch, "val/mse": "nan" if epoch == 2 else 1.0 / epoch} for epoch in (1, 2, 3)]
    (trace,) = charts(make_run(tmp_path / "a", rows=rows))["val/mse"].traces
    assert [mark.tip for mark in trace.marks] == ["epoch 1: 1", "epoch 3: 0.33333"]


def test_the_frontier_has_each_player_once(make_run, make_report, tmp_path: Path) -> None:
    rows = [
        {
            "player": name,
            "PR": {"value": pr, "lo": pr - 0.1, "hi": pr + 0.1, "n": 9},
            "s/decision": cost,
            "evaluations/decision": 100 * cost,
        }
        for name, pr, cost in (("quick", 2.0, 0.1), ("slow", 1.0, 1.0), ("worse", 3.0, 0.5))
    ]
    result = make_report(figures={}, tables={"players": rows})
    found = charts(*(make_run(tmp_path / name, kind="evaluate", result=result) for name in ("a", "b")))
    front, cloud = found["PR against seconds a decision"].traces
    assert (front.number, len(front.marks), len(cloud.marks)) == (-1, 2, 3)
    assert [mark.label for mark in cloud.marks] == ["quick", "slow", ""]


def test_the_headline_is_the_measurement_at_the_end(make_training, tmp_path: Path) -> None:
    (record,) = read_runs([make_training(tmp_path / "a", pr=18.0)])
    found = headline(record, "pr"), headline(record, "ppg_vr")
    assert [None if figure is None else figure.value for figure in found] == [pytest.approx(2.0), -0.2]

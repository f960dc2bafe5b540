"""Charts: every point within the axes, intervals around it, long lines thinned without losing their extremes."""

from __future__ import annotations

import math
import random

import pytest

from raccoon.contracts import Figure
from raccoon.dashboard.charts import Chart, Point, Series, forest, thin, xy_chart


def line(values: list[float], run: str = "a", number: int = 0) -> Series:
    return Series(run, number, [Point(float(x), Figure(y)) for x, y in enumerate(values, start=1)])


def assert_inside(chart: Chart) -> None:
    for mark in (mark for trace in chart.traces for mark in trace.marks):
        assert chart.left <= mark.x <= chart.right
        assert chart.top <= mark.y <= chart.bottom
        assert all(end is None or math.isfinite(end) for end in (mark.low, mark.high))
    assert all(chart.left <= tick.at <= chart.right for tick in chart.xticks)
    assert all(chart.top <= tick.at <= chart.bottom for tick in chart.yticks)


@pytest.mark.parametrize(
    "values",
    [[1.0], [0.0, 0.0], [3.0, 2.0, 1.0], [-1.0, 1.0], [1e-300, 1e99], [-1e99, 1e99], [5e-324, 1.0], [1e9, 1e9 + 1e-6], [0.001, 30.0]],
    ids=str,
)
def test_points_lie_within_the_axes(values: list[float]) -> None:
    for zero in (False, True):
        assert_inside(xy_chart("t", [line(values)], "x", "y", whole_x=True, zero=zero))
    assert_inside(forest("t", [line(values)], "x"))


def test_higher_is_further_up_and_later_further_right() -> None:
    first, second, third = xy_chart("t", [line([1.0, 3.0, 2.0])], "x", "y").traces[0].marks
    assert first.x < second.x < third.x
    assert second.y < third.y < first.y


def test_a_wide_range_of_positive_numbers_is_drawn_on_a_log_axis() -> None:
    chart = xy_chart("t", [line([0.01, 0.1, 1.0])], "x", "y")
    one, two, three = (mark.y for mark in chart.traces[0].marks)
    assert chart.ylabel == "y (log)"
    assert one - two == pytest.approx(two - three, abs=0.02)
    assert xy_chart("t", [line([0.01, 0.1, 1.0])], "x", "y", zero=True).ylabel == "y"


def test_intervals_are_around_their_points() -> None:
    series = Series("a", 0, [Point(1.0, Figure(2.0, 1.0, 4.0)), Point(2.0, Figure(3.0))])
    with_interval, without = xy_chart("t", [series], "x", "y").traces[0].marks
    assert with_interval.low is not None
    assert with_interval.high is not None
    assert with_interval.high < with_interval.y < with_interval.low  # y down
    assert (without.low, without.high) == (None, None)
    sideways = forest("t", [series], "x").traces[0].marks[0]
    assert sideways.low is not None
    assert sideways.high is not None
    assert sideways.low < sideways.x < sideways.high


def test_short_lines_are_drawn_whole() -> None:
    points = line([float(value) for value in range(600)]).points
    assert thin(points) is points


def test_long_lines_keep_their_ends_and_extremes_in_order() -> None:
    rng = random.Random(1)
    values = [rng.random() for _ in range(100_000)]
    values[51_234], values[71_234] = 9.0, -9.0
    points = line(values).points
    kept = thin(points)
    assert len(kept) <= 602
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert {-9.0, 9.0} <= {point.y.value for point in kept}
    assert [point.x for point in kept] == sorted({point.x for point in kept})


def test_the_line_joins_the_points_and_a_cloud_has_none() -> None:
    drawn = xy_chart("t", [line([1.0, 2.0])], "x", "y").traces[0]
    assert drawn.path == " ".join(f"{mark.x:g},{mark.y:g}" for mark in drawn.marks)
    assert xy_chart("t", [Series("a", 0, line([1.0, 2.0]).points, joined=False)], "x", "y").traces[0].path == ""

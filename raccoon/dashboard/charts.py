"""Charts as geometry: from series of numbers to what an SVG template draws. Sizes are pixels of an unscaled chart, y down."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from raccoon.contracts import Figure

__all__ = ["Chart", "Mark", "Point", "Series", "Tick", "Trace", "forest", "thin", "xy_chart"]

WIDTH, HEIGHT = 460, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 14, 12, 42
_ROW = 32
_LOG_RATIO = 10.0
_TEXT = 60  # characters of a label that fit into a chart's width
_STRETCHES = 300  # of a long line: more than a chart has room for


@dataclass(frozen=True)
class Point:
    """``y`` over ``x``, with its interval where it has one; ``label`` is written beside it, ``tip`` shown under the pointer."""

    x: float
    y: Figure
    label: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Series:
    """Points of one run (``number`` picks the style, the same in every chart); ``joined`` by a line or not."""

    run: str
    number: int
    points: Sequence[Point]
    joined: bool = True


@dataclass(frozen=True)
class Tick:
    """A line of the grid with its label."""

    at: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A point with the ends of its interval, if any (pixels, along ``y`` in an x-y chart, along ``x`` in a forest)."""

    x: float
    y: float
    low: float | None
    high: float | None
    label: str
    tip: str


@dataclass(frozen=True)
class Trace:
    """A drawn series; ``path``: the points of its line, empty for none."""

    run: str
    number: int
    path: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Chart:
    """Everything that the template needs. ``horizontal``: intervals lie along x (a forest). ``zero``: where a line at 0 goes."""

    title: str
    xlabel: str
    ylabel: str
    height: int
    xticks: Sequence[Tick]
    yticks: Sequence[Tick]
    traces: Sequence[Trace]
    zero: float | None = None
    horizontal: bool = False
    width: int = WIDTH
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP

    @property
    def bottom(self) -> int:
        """Where the x axis lies."""
        return self.height - _BOTTOM


class Axis:
    """Maps the range of ``values``, with some room, to pixels ``start`` to ``stop``; ``whole``: ticks at whole numbers alone."""

    def __init__(self, values: Sequence[float], start: float, stop: float, log: bool = False, whole: bool = False) -> None:
        self.start, self.stop, self.log, self.whole = start, stop, log, whole
        self.low, self.high = min(values), max(values)
        if log:
            self.low, self.high = self.low / 1.15, self.high * 1.15
        elif self.low == self.high:
            room = abs(self.low) * 0.1 or 1.0
            self.low, self.high = self.low - room, self.high + room
        else:
            room = 0.04 * (self.high - self.low)
            self.low, self.high = self.low - room, self.high + room

    def at(self, value: float) -> float:
        """Pixel of ``value``."""
        low, high, value = (math.log(each) for each in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return round(self.start + (value - low) / (high - low) * (self.stop - self.start), 2)

    def ticks(self) -> list[Tick]:
        """Round numbers within the axis."""
        from matplotlib.ticker import LogLocator, MaxNLocator

        if self.log:
            decades = math.log10(self.high / self.low)
            locator = LogLocator(subs=(1.0, 2.0, 5.0) if decades < 3 else (1.0,), numticks=12)
        else:
            locator = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10], integer=self.whole)
        values = [float(value) for value in locator.tick_values(self.low, self.high)]
        return [Tick(self.at(value), f"{value:,.6g}") for value in values if self.low <= value <= self.high]


def xy_chart(
    title: str, series: Sequence[Series], xlabel: str, ylabel: str, log_x: bool = False, whole_x: bool = False, zero: bool = False
) -> Chart:
    """Points over x. ``zero`` has a line at 0 in view; else y is on a log axis where it is positive and spans a factor of 10."""
    series = [replace(each, points=thin(each.points)) if each.joined else each for each in series]
    points = [point for each in series for point in each.points]
    ends = [end for point in points for end in (point.y.value, point.y.lo, point.y.hi) if end is not None] + [0.0] * zero
    log_y = not zero and min(ends) > 0 and max(ends) / min(ends) > _LOG_RATIO
    x = Axis([point.x for point in points], _LEFT, WIDTH - _RIGHT, log_x, whole_x)
    y = Axis(ends, HEIGHT - _BOTTOM, _TOP, log_y)
    traces = []
    for each in series:
        marks = [_mark(point, x.at(point.x), y.at(point.y.value), y) for point in each.points]
        path = " ".join(f"{mark.x:g},{mark.y:g}" for mark in marks) if each.joined else ""
        traces.append(Trace(each.run, each.number, path, marks))
    label = f"{ylabel} (log)" if log_y else ylabel
    return Chart(title, f"{xlabel} (log)" if log_x else xlabel, label, HEIGHT, x.ticks(), y.ticks(), traces, y.at(0.0) if zero else None)


def thin(points: Sequence[Point]) -> Sequence[Point]:
    """``points`` where a line has room for them, else the first, the last, and the lowest and highest of each of equal stretches."""
    if len(points) <= 2 * _STRETCHES:
        return points
    kept = {0, len(points) - 1}
    for start, stop in itertools.pairwise(len(points) * at // _STRETCHES for at in range(_STRETCHES + 1)):
        stretch = range(start, stop)
        kept |= {min(stretch, key=lambda at: points[at].y.value), max(stretch, key=lambda at: points[at].y.value)}
    return [points[at] for at in sorted(kept)]


def _mark(point: Point, x: float, y: float, axis: Axis) -> Mark:
    low, high = (None if end is None else axis.at(end) for end in (point.y.lo, point.y.hi))
    return Mark(x, y, low, high, point.label, point.tip)


def forest(title: str, series: Sequence[Series], xlabel: str, zero: bool = False) -> Chart:
    """One line a point with its interval along x and its label above; the points' own ``x`` is not used."""
    points = [point for each in series for point in each.points]
    ends = [end for point in points for end in (point.y.value, point.y.lo, point.y.hi) if end is not None] + [0.0] * zero
    x = Axis(ends, _RIGHT, WIDTH - _RIGHT)
    height = _TOP + _ROW * len(points) + _BOTTOM
    traces, row = [], 0
    for each in series:
        marks = []
        for point in each.points:
            low, high = (None if end is None else x.at(end) for end in (point.y.lo, point.y.hi))
            label = point.label if len(point.label) <= _TEXT else f"{point.label[: _TEXT - 1]}…"
            marks.append(Mark(x.at(point.y.value), _TOP + _ROW * row + 0.75 * _ROW, low, high, label, point.tip))
            row += 1
        traces.append(Trace(each.run, each.number, "", marks))
    return Chart(title, xlabel, "", height, x.ticks(), [], traces, x.at(0.0) if zero else None, horizontal=True, left=_RIGHT)

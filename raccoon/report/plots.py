"""Plots that several evaluators share. Each function returns what ``Report.plots`` holds: a function of a matplotlib Figure.

Matplotlib's object interface only: no pyplot, no global state, nothing imported before a plot is drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from raccoon import stats
from raccoon.contracts import Figure

__all__ = ["Draw", "bars", "convergence", "curves", "frontier", "histogram", "intervals", "lines", "scatter"]

Draw = Callable[[Any], None]
_COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860")
_POINTS = 20_000


def bars(groups: Mapping[str, Figure], xlabel: str, title: str = "") -> Draw:
    """Horizontal bars, one a group, with interval whiskers, the value and n beside each."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, "")
        values = np.array([figure.value for figure in groups.values()], dtype=float)
        ends = [(f.value if f.lo is None else f.lo, f.value if f.hi is None else f.hi) for f in groups.values()]
        low, high = np.array(ends, dtype=float).reshape(-1, 2).T
        places = np.arange(len(values))
        axes.barh(places, values, xerr=np.maximum([values - low, high - values], 0), color=_COLOURS[0], capsize=3, height=0.65)
        counts = ["" if f.n is None else f"\nn = {f.n:,}" for f in groups.values()]
        axes.set_yticks(places, [name + count for name, count in zip(groups, counts, strict=True)])
        axes.invert_yaxis()
        span = float(np.nanmax(np.abs(high), initial=0.0)) or 1.0
        for place, value, end in zip(places, values, high, strict=True):
            axes.text(max(end, value) + 0.01 * span, place, f"{value:.2f}", va="center", fontsize=9)
        axes.margins(x=0.1)

    return draw


def histogram(samples: Mapping[str, ArrayLike], xlabel: str, title: str = "", bins: int = 60) -> Draw:
    """Histograms on shared bins, counts on a log axis (errors are mostly near zero)."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, "count")
        arrays = {name: np.asarray(values, dtype=float) for name, values in samples.items()}
        pooled = np.concatenate([*arrays.values(), np.zeros(1)])
        edges = np.linspace(pooled.min(), pooled.max() or 1.0, bins + 1)
        for colour, (name, values) in zip(_cycle(len(arrays)), arrays.items(), strict=True):
            axes.hist(values, edges, histtype="stepfilled", alpha=0.55, color=colour, label=f"{name} (n = {len(values):,})")
        axes.set_yscale("symlog", linthresh=1)
        axes.legend(frameon=False)

    return draw


def scatter(x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str, title: str = "", diagonal: bool = True) -> Draw:
    """Points of ``y`` against ``x`` (at most 20,000, evenly taken), with the line y = x."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, ylabel)
        a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        step = max(1, -(-len(a) // _POINTS))
        axes.scatter(a[::step], b[::step], s=4, alpha=0.25, color=_COLOURS[0], linewidths=0, rasterized=True)
        if diagonal and len(a):
            ends = [float(min(a.min(), b.min())), float(max(a.max(), b.max()))]
            axes.plot(ends, ends, color="black", linewidth=0.8, label="y = x")
            axes.legend(frameon=False)

    return draw


def frontier(x: Mapping[str, float], y: Mapping[str, Figure], best: Sequence[str], xlabel: str, ylabel: str, title: str = "") -> Draw:
    """Named points with intervals, ``x`` on a log axis; ``best`` are joined by a line."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, ylabel)
        axes.set_xscale("log")
        for name, figure in y.items():
            low, high = (figure.value if end is None else end for end in (figure.lo, figure.hi))
            colour = _COLOURS[0] if name in best else _COLOURS[1]
            axes.errorbar(x[name], figure.value, [[figure.value - low], [high - figure.value]], fmt="o", color=colour, capsize=3)
            label = textwrap.fill(name, 40, break_long_words=False, break_on_hyphens=False)  # jobs are called after many settings
            axes.annotate(label, (x[name], figure.value), textcoords="offset points", xytext=(6, 6), fontsize=8)
        axes.plot([x[name] for name in best], [y[name].value for name in best], color=_COLOURS[0], linewidth=1, zorder=0)
        axes.set_ylim(bottom=0)
        axes.margins(x=0.15)

    return draw


def lines(x: Sequence[float], series: Mapping[str, Sequence[float]], xlabel: str, ylabel: str, title: str = "") -> Draw:
    """One marked line a series over shared ``x``, which is on a log axis."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, ylabel)
        axes.set_xscale("log", base=2)
        for colour, (name, values) in zip(_cycle(len(series)), series.items(), strict=True):
            axes.plot(x, values, marker="o", color=colour, label=name)
        axes.set_xticks(list(x), [str(value) for value in x])
        axes.legend(frameon=False)

    return draw


def curves(x: ArrayLike, series: Mapping[str, ArrayLike], xlabel: str, ylabel: str, title: str = "") -> Draw:
    """One line a series over shared ``x``, its lowest point marked."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, ylabel)
        for colour, (name, values) in zip(_cycle(len(series)), series.items(), strict=True):
            places, heights = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
            axes.plot(places, heights, color=colour, label=name)
            axes.plot(places[heights.argmin()], heights.min(), marker="o", color=colour)
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)

    return draw


def intervals(series: Mapping[str, Mapping[float, Figure]], xlabel: str, ylabel: str, title: str = "") -> Draw:
    """Figures with their intervals over numbers, ``{name: {x: figure}}``, joined by a line; a line at zero."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, xlabel, ylabel)
        for colour, (name, figures) in zip(_cycle(len(series)), series.items(), strict=True):
            values = np.array([figure.value for figure in figures.values()])
            ends = [(f.value if f.lo is None else f.lo, f.value if f.hi is None else f.hi) for f in figures.values()]
            low, high = np.array(ends, dtype=float).reshape(-1, 2).T
            axes.errorbar(
                list(figures), values, [values - low, high - values], marker="o", markersize=4, capsize=3, color=colour, label=name
            )
        axes.axhline(0.0, color="black", linewidth=0.8)
        axes.legend(frameon=False)

    return draw


def convergence(series: Mapping[str, ArrayLike], ylabel: str, title: str = "") -> Draw:
    """Running mean and 95% band of each series against the number of observations; the axis fits the settled part."""

    def draw(canvas: Any) -> None:
        axes = _axes(canvas, title, "games", ylabel)
        reach = [0.0]
        for colour, (name, values) in zip(_cycle(len(series)), series.items(), strict=True):
            n, mean, half = stats.running_ci(values)
            if len(n) == 0:
                continue
            axes.plot(n, mean, color=colour, linewidth=1.4, label=f"{name}: {mean[-1]:+.4f} ± {half[-1]:.4f}")
            axes.fill_between(n, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
            settled = slice(len(n) // 10, None)
            reach.append(float(np.max(np.abs(mean[settled]) + half[settled])))
        axes.axhline(0.0, color="black", linewidth=0.8)
        limit = 1.05 * max(reach) or 1.0
        axes.set_ylim(-limit, limit)
        if len(reach) > 1:  # a single game has no running interval
            axes.legend(frameon=False)

    return draw


def _axes(canvas: Any, title: str, xlabel: str, ylabel: str) -> Any:
    axes = canvas.subplots()
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    return axes


def _cycle(n: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(n)]

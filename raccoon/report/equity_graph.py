"""The equity of a match decision by decision as SVG, for reports and pages. One self-contained element without scripts, fonts or links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["STYLE", "equity_graph"]

Row = Mapping[str, Any]
_WIDTH, _HEIGHT, _LEFT, _EDGE = 900, 240, 48, 12
_MOST_TICKS = 6

STYLE = """.equity{font:12px system-ui,sans-serif;max-width:100%;height:auto;color:inherit}.equity text{fill:currentColor;text-anchor:end}
.equity .line{fill:none;stroke:#1769aa;stroke-width:1.5}.equity .zero,.equity .game,.equity .tick{stroke:currentColor;opacity:.5}
.equity .tick{opacity:.15}.equity .at{fill:#1769aa;opacity:0}.equity .at[aria-current]{opacity:.35}"""
"""Colours and fonts of every graph; once a page."""


def equity_graph(rows: Sequence[Row], names: tuple[str, str]) -> str:
    """An ``<svg>`` of class ``equity``: the equity of each decision to player 0; lines where games begin. ``rows``: records of an analysis.

    Every decision has a rectangle of class ``at`` with ``data-at``, its place from 0 on: a page can mark it and listen for clicks.
    """
    known = {at: row["equity"] * (1 if row["player"] == 0 else -1) for at, row in enumerate(rows) if row["equity"] is not None}
    step = _tick(max((abs(value) for value in known.values()), default=1.0))
    top = max(1, math.ceil(max((abs(value) for value in known.values()), default=1.0) / step)) * step
    wide = (_WIDTH - _LEFT - _EDGE) / max(len(rows), 1)

    def x(at: float) -> float:
        return _LEFT + wide * (at + 0.5)

    def y(value: float) -> float:
        return _HEIGHT / 2 - (_HEIGHT / 2 - _EDGE) * value / top

    path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in known.items())
    games = (at for at in range(1, len(rows)) if rows[at]["game"] != rows[at - 1]["game"])
    parts = [
        f'<svg class="equity" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img"><title>equity to {escape(names[0])} by decision</title>',
        *_ticks(step, top, y),
        *(f'<path class="game" d="M{x(at - 0.5):.1f} 0V{_HEIGHT}"/>' for at in games),
        f'<polyline class="line" points="{path}"/>',
        *(
            f'<rect class="at" data-at="{at}" x="{x(at - 0.5):.1f}" y="0" width="{wide:.2f}" height="{_HEIGHT}"/>'
            for at in range(len(rows))
        ),
    ]
    return "".join(parts) + "</svg>"


def _tick(most: float) -> float:
    """A round step of which at most ``_MOST_TICKS`` reach ``most``."""
    least = max(most, 1e-3) / _MOST_TICKS * 2
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= least)


def _ticks(step: float, top: float, y: Callable[[float], float]) -> Iterator[str]:
    count = round(top / step)
    for place in range(-count, count + 1):
        at = y(place * step)
        yield f'<path class="{"tick" if place else "zero"}" d="M{_LEFT} {at:.1f}H{_WIDTH - _EDGE}"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:.1f}">{place * step:+.2g}</text>'

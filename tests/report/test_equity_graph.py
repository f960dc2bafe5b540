"""The graph of the equity of a match."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from raccoon.report.equity_graph import equity_graph


def row(game: int, player: int, equity: float | None) -> dict[str, Any]:
    return {"game": game, "player": player, "equity": equity}


def test_every_known_equity_is_where_it_belongs() -> None:
    """900 - 48 - 12 units for 4 decisions; +1 is at the top edge 12, -1 at 228."""
    svg = equity_graph([row(1, 0, 1.0), row(1, 1, 0.5), row(2, 0, None), row(2, 1, 1.0)], ("<Ida>", "Ash"))
    root = ElementTree.fromstring(svg)
    assert root[0].text == "equity to <Ida> by decision"
    found = re.search(r'points="([^"]*)"', svg)
    assert found is not None
    assert found[1] == "153.0,12.0 363.0,174.0 783.0,228.0"
    assert re.findall(r'class="game" d="M([\d.]+) ', svg) == ["468.0"]
    assert [float(text) for text in re.findall(r">([+-][\d.e]+)</text>", svg)] == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert svg.count("data-at=") == 4


def test_a_match_without_decisions_has_an_empty_graph() -> None:
    assert 'points=""' in equity_graph([], ("White", "Black"))

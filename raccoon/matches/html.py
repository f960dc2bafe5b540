"""An analysed match as one HTML file: the table of the players, the equity graph, and a board for every decision. No scripts, no links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from raccoon.env.formats.xgid import from_xgid
from raccoon.matches import svg
from raccoon.matches.analysis import answers_of
from raccoon.matches.page import decision_lines, game_title, player_table
from raccoon.matches.record import Match
from raccoon.report import equity_graph

__all__ = ["report"]

Row = Mapping[str, Any]
_MISTAKE = 0.02
"""Decisions that lose as much are shown open."""
_STYLE = (
    """body{font:15px system-ui,sans-serif;max-width:860px;margin:1rem auto;padding:0 1rem;color:#222}pre{overflow-x:auto}
summary{cursor:pointer;padding:.25rem 0}summary .cost{color:#b00020;font-weight:600}td,th{padding:.1rem .6rem;text-align:right}
td:first-child,th:first-child{text-align:left}"""
    + svg.STYLE
    + equity_graph.STYLE
)


def report(match: Match, document: Mapping[str, Any], names: tuple[str, str]) -> str:
    """The page of ``document``, what ``search.py match=FILE json=true`` prints of the match; ``names`` are those to show."""
    rows: Sequence[Row] = document["decisions"]
    title = escape(f"{names[0]} and {names[1]}, " + (f"match to {match.length}" if match.length else "money session"))
    faults = "".join(f"<li>line {fault['line']}: {escape(fault['reason'])}</li>" for fault in document["faults"])
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1><p>Judge: {escape(document['judge'])}.</p>",
        f"<pre>{escape(chr(10).join(player_table(document['players'], names, bool(match.length))))}</pre>",
        f"<h2>Lines left out</h2><ul>{faults}</ul>" if faults else "",
        f'<h2>Equity to {escape(names[0])}</h2><div class="graph">{equity_graph.equity_graph(rows, names)}</div>',
        *_games(match, rows, names),
    ]
    return "".join(parts) + "</body></html>\n"


def _games(match: Match, rows: Sequence[Row], names: tuple[str, str]) -> Iterator[str]:
    for index in range(len(match.games)):
        yield f"<h2>{escape(game_title(match, index).capitalize())}</h2>"
        yield from (_decision(match, row, names) for row in rows if row["game"] == index + 1)


def _decision(match: Match, row: Row, names: tuple[str, str]) -> str:
    position = from_xgid(row["xgid"])
    losses = [cost for cost in (row["cost"], *(cost for _, _, cost, _ in answers_of(row))) if cost is not None]
    wrong = max(losses, default=0.0) >= _MISTAKE
    lines = list(decision_lines(match, [row], names))[1:] or [f"{row['number']} {names[row['player']]} no double"]  # [0]: the game
    text = escape("\n".join(" ".join(line.split()) for line in lines))
    shown = f'<span class="cost">{text}</span>' if wrong else text
    board = svg.board_svg(position, bottom=0, move=row["best"] if row["kind"] == "play" else None, names=names)
    return f"<details{' open' if wrong else ''}><summary>{shown}</summary>{board}{_alternatives(row)}<p>{escape(row['xgid'])}</p></details>"


def _alternatives(row: Row) -> str:
    if row["kind"] == "play":
        lines = [(each["move"], each["equity"], each["difference"]) for each in row["candidates"]]
    elif row["no_double"] is None:
        lines = []
    else:
        best = row["equity"]
        keys = ("no_double", "double_take", "double_pass")
        lines = [(key.replace("_", " "), row[key], row[key] - best) for key in keys]
    body = "".join(f"<tr><td>{escape(what)}</td><td>{equity:+.3f}</td><td>{less:+.3f}</td></tr>" for what, equity, less in lines)
    return f"<table><tr><th>{row['kind']}</th><th>equity</th><th>difference</th></tr>{body}</table>" if body else ""

"""A record of an analysis as a page for a terminal: heading, board, table, cube."""

from __future__ import annotations

from typing import Any

import numpy as np

from raccoon.env.formats.diagram import draw
from raccoon.search.analysis.records import CHANCES

__all__ = ["page", "source_of"]

_HEADS = ("win", "win g", "win bg", "lose", "lose g", "lose bg")
_CUBE_LINES = (("no double", "no_double"), ("double, take", "double_take"), ("double, pass", "double_pass"))
_OWNERS = {"centered": "centred", "player": "owned by the side on roll", "opponent": "owned by the other side"}


def page(board: np.ndarray, record: dict[str, Any], source: str, diagram: bool) -> str:
    """The text of one record of ``raccoon.search.analysis.answers.analyse``; ``board int8[2, 25]``, ``source``: what evaluates, as in
    ``net default`` or ``engine gnubg2``."""
    dice = "before the roll" if record["dice"] is None else "to play {}-{}".format(*sorted(record["dice"], reverse=True))
    above = "" if source.startswith("net ") else " above it"  # an engine can look ahead on its own
    lines = [f"{record['position']}, {dice} ({source}, search {_depth(record)}{above})", record["xgid"]]
    if diagram:
        lines += ["", draw(board), ""]
    rows = record.get("candidates") or [record | {"rank": 1, "move": "", "difference": 0.0}]
    lines += _table(rows)
    played = record.get("played")
    if played:
        of_match = "" if played["mwc_cost"] is None else f" and {100 * played['mwc_cost']:.2f}% of the match"
        lines.append(f"{record['move']} costs {played['cost']:.4f}{of_match}; rank {played['rank']}")
    if any(row["chances"] for row in rows):
        lines.append("chances are cumulative: wins count gammons and backgammons, gammons count backgammons")
    if any(row["se"] is not None for row in rows):
        lines.append("± is the standard error of the equity")
    lines += record["notes"]
    lines.append(f"{record['evaluations']:,} evaluations, {record['seconds']:.2f} s; {_unit(record['cube'])}")
    cube = _cube(record["cube"], record.get("cube_action"))
    return "\n".join(lines + cube + _points(record.get("cube_points"), record.get("gammon_values")))


def source_of(player: Any) -> str:
    """What evaluates for a player that has an engine: ``net default``, ``engine gnubg2``."""
    net = getattr(player, "checkpoint", None) if hasattr(player.engine, "net") else None  # else a part of the engine, or none of it
    return f"engine {player.engine.name}" if net is None else f"net {net}"


def _depth(record: dict[str, Any]) -> str:
    plies = "" if record["ply"] is None else f"{record['ply']}-ply"
    name = "" if record["search"] in ("static", plies.replace("-", "")) else record["search"]
    return f"{plies}: {name}" if plies and name else plies or name


def _table(rows: list[dict[str, Any]]) -> list[str]:
    match = rows[0]["mwc"] is not None
    width = max(4, *(len(row["move"]) for row in rows))
    heads = [f"{head:>7}" for head in (("MWC %", *_HEADS) if match else _HEADS)]
    lines = [f"{'':>3} {'':<{width}} {'ply':>4} {'equity':>8} {'diff':>8}  " + " ".join(heads)]
    for row in rows:
        cells = [f"{100 * row['mwc']:>7.2f}"] if match else []
        cells += [f"{'-' if row['chances'] is None else format(row['chances'][name], '.4f'):>7}" for name in CHANCES]
        depth = "roll" if row["se"] is not None else "tree" if row["ply"] is None else row["ply"]
        error = "" if row["se"] is None else f"  ±{row['se']:.4f}"
        numbers = f"{depth:>4} {row['equity']:>+8.4f} {row['difference']:>+8.4f}"
        lines.append(f"{row['rank']:>3} {row['move']:<{width}} {numbers}  {' '.join(cells)}{error}")
    return lines


def _unit(cube: dict[str, Any] | None) -> str:
    if cube is None:
        return "equity in points at a cube of 1, cubeless"
    if cube["away"]:
        return "equity: normalised (EMG), a game at this cube is 1; MWC: match winning chance"
    return "equity in points per unit of the cube"


def _cube(cube: dict[str, Any] | None, action: dict[str, Any] | None) -> list[str]:
    """Where the cube is, the score or the rules and, before the roll, what to do with it."""
    if cube is None:
        return []
    lines = [f"cube at {cube['value']}, {_OWNERS[cube['owner']]}"]
    if cube["away"]:
        lines[0] += ", {} away against {} away".format(*cube["away"]) + (", Crawford game" if cube["crawford"] else "")
    else:
        lines[0] += "".join(f", {rule}" for rule in ("jacoby", "beavers") if cube[rule]).replace("jacoby", "Jacoby")
    if action is not None:
        lines[0] += f": {action['action']}"
        for name, key in _CUBE_LINES:
            mwc = "" if action["mwc"] is None else f"  {100 * action['mwc'][key]:>7.2f}%"
            lines.append(f"  {name:<12} {action[key]:>+8.4f}{mwc}")
    return lines


def _points(points: dict[str, float | None] | None, gammons: dict[str, float] | None) -> list[str]:
    """From which winning chances the cube decisions change, and what gammons count."""
    lines: list[str] = []
    if points is not None:
        shown = {name: "-" if value is None else f"{100 * value:.2f}%" for name, value in points.items()}
        beaver = "" if points["beaver"] is None else f", beaver below {shown['beaver']}"
        lines.append(
            f"  by winning chance: double from {shown['double']}, cash from {shown['cash']} (take point {shown['take']}), "
            f"too good from {shown['too_good']}{beaver}"
        )
    if gammons is not None:
        values = {name: f"{value:.3f}" for name, value in gammons.items()}
        lines.append(
            f"  gammon value {values['gammon']}, lost {values['lost_gammon']}; "
            f"backgammon {values['backgammon']}, lost {values['lost_backgammon']}"
        )
    return lines

"""``raccoon-search``, ``python search.py``: what a player thinks of a position, a list of them or a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from raccoon.cli.app import main as run_command
from raccoon.cli.app import section

__all__ = ["main"]

_CUBE_LINES = (("no double", "no_double"), ("double, take", "double_take"), ("double, pass", "double_pass"))
_HEADS = ("win", "win g", "win bg", "lose", "lose g", "lose bg")


def _job(config: dict[str, Any], _: Any) -> None:
    from raccoon.build import build
    from raccoon.checks import quoted
    from raccoon.contracts import RaccoonError
    from raccoon.progress import track
    from raccoon.search.analysis import analyse

    for key in ("json", "top", "cubeful", "diagram", "resume", "dice", "position", "file", "out"):
        section(config, key)
    as_json, top = config["json"], config["top"]
    for key in ("json", "diagram", "cubeful", "resume"):
        if not isinstance(config[key], bool):
            raise RaccoonError(f"{key}={quoted(config[key])}: give true or false")
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise RaccoonError(f"top={quoted(top)}: give a whole number from 1, or null for all")
    if config["out"] is not None and as_json:
        raise RaccoonError("json=true: leave it out where out=FILE is given; that file is JSON, a line for each position")
    questions = _questions(config)
    player = build(section(config, "player"), "player")
    if not all(hasattr(player, part) for part in ("engine", "search", "cube")):
        raise RaccoonError(f"player={getattr(player, 'name', player)}: search.py analyses players that have an engine and a search")
    if config["out"] is not None:
        _write(config, questions, player, top)
        return
    model = player.cube if config["cubeful"] else None
    records = track(analyse(questions, player.engine, player.search, model), len(questions), "positions")
    if as_json:
        print(json.dumps([_cut(record, top) for record in records], indent=1))
        return
    for number, (question, record) in enumerate(zip(questions, records, strict=True)):
        print(("\n" if number else "") + _page(question, _cut(record, top), player.name, config["diagram"]))


def _write(config: dict[str, Any], questions: list[Any], player: Any, top: int | None) -> None:
    """Records of the questions that the file ``out`` does not hold yet, added to it."""
    from raccoon.cli import records
    from raccoon.env.codec import position_id
    from raccoon.executor import fingerprint
    from raccoon.progress import track
    from raccoon.search.analysis import analyse

    path = Path(str(config["out"]))
    model = player.cube if config["cubeful"] else None
    mark = fingerprint({"player": section(config, "player"), "top": top})
    asked = [
        {
            "position": position_id(each.board),
            "dice": None if each.dice is None else list(each.dice),
            "cube": None if model is None else each.cube(),
        }
        for each in questions
    ]
    done = records.kept(path, mark, asked, config["resume"])
    found = analyse(questions[done:], player.engine, player.search, model)
    for _ in track(records.append(path, mark, (_cut(record, top) for record in found)), len(questions) - done, "positions"):
        pass
    print(f"{path}: {len(questions)} positions, {len(questions) - done} of them new")


def _questions(config: dict[str, Any]) -> list[Any]:
    """Every question of ``position`` and ``file``, all read before the first is searched."""
    from raccoon.contracts import RaccoonError
    from raccoon.search.questions import read_question

    position, file, dice = config["position"], config["file"], config["dice"]
    if (position is None) is (file is None):
        raise RaccoonError("position: give one (a Position ID or an XGID), a list of them, or file=PATH with one a line")
    if position is not None and position == []:
        raise RaccoonError("position=[]: holds no position")
    if file is None:
        return [read_question(text, dice) for text in (position if isinstance(position, list) else [position])]
    try:
        lines = Path(str(file)).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RaccoonError(f"file={file}: cannot be read ({error})") from error
    found = []
    for number, line in enumerate(lines, start=1):
        words = line.split("#")[0].split(maxsplit=1)
        if words:
            try:
                found.append(read_question(words[0], words[1].strip() if len(words) > 1 else dice))
            except ValueError as error:
                raise RaccoonError(f"{file}, line {number}: {error}") from error
    if not found:
        raise RaccoonError(f"file={file}: holds no position")
    return found


def _cut(record: dict[str, Any], top: int | None) -> dict[str, Any]:
    return record | {"candidates": record["candidates"][:top]} if "candidates" in record else record


def _page(question: Any, record: dict[str, Any], player: str, diagram: bool) -> str:
    """The board and the table."""
    from raccoon.env.diagram import draw

    dice = "before the roll" if record["dice"] is None else "to play {}-{}".format(*sorted(record["dice"], reverse=True))
    lines = [f"{record['position']}, {dice} ({player})"]
    if diagram:
        lines += ["", draw(question.board), ""]
    rows = record.get("candidates") or [record | {"move": "", "difference": 0.0}]
    width = max(4, *(len(row["move"]) for row in rows))
    lines.append(f"{'':>3} {'':<{width}} {'ply':>4} {'equity':>8} {'diff':>8}  " + " ".join(f"{head:>7}" for head in _HEADS))
    for rank, row in enumerate(rows, start=1):
        chances = " ".join(f"{'-' if row['chances'] is None else format(row['chances'][i], '.4f'):>7}" for i in range(6))
        depth, error = (row["ply"], "") if row["se"] is None else ("roll", f"  ±{row['se']:.4f}")
        lines.append(f"{rank:>3} {row['move']:<{width}} {depth:>4} {row['equity']:>+8.4f} {row['difference']:>+8.4f}  {chances}{error}")
    if any(row["se"] is not None for row in rows):
        lines.append("± is the standard error of the equity")
    lines.append(f"{record['evaluations']:,} evaluations, {record['seconds']:.2f} s; {_unit(record['cube'])}")
    return "\n".join(lines + _cube_lines(record["cube"], record.get("cube_action")))


def _unit(cube: dict[str, Any] | None) -> str:
    if cube is None:
        return "equity in points at a cube of 1, cubeless"
    return "equity: match winning chances from -1 to 1" if cube["away"] else "equity in points per unit of the cube"


def _cube_lines(cube: dict[str, Any] | None, action: dict[str, Any] | None) -> list[str]:
    """Where the cube is and, before the roll, what to do with it."""
    if cube is None:
        return []
    owner = {"centered": "centred", "player": "owned by the side on roll", "opponent": "owned by the other side"}[cube["owner"]]
    lines = [f"cube at {cube['value']}, {owner}"]
    if cube["away"]:
        lines[0] += ", {} away against {} away".format(*cube["away"]) + (", Crawford game" if cube["crawford"] else "")
    if action is not None:
        lines[0] += f": {action['action']}"
        lines += [f"  {name:<12} {action[key]:>+8.4f}" for name, key in _CUBE_LINES]
    return lines


def main() -> None:
    """Analyse positions; see ``--help``."""
    run_command("search", _job, run_folder=False)


if __name__ == "__main__":
    main()

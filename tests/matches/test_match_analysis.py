"""Decisions, costs, luck and sums of a match; the luck against GNU Backgammon's own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from raccoon.cube import GnubgJanowski, Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.rolls import roll_means
from raccoon.env.formats.xgid import from_xgid
from raccoon.env.movegen import ROLLS
from raccoon.eval.luck import luck_of
from raccoon.matches import Match, analyse_decisions, board_svg, combined, decisions_of, luck_of_roll, parse_match, read_match, summarise
from raccoon.matches.html import report
from raccoon.matches.page import decision_lines, player_table
from raccoon.play.player import EnginePlayer
from raccoon.search import Expectimax, Filter
from raccoon.search.analysis.answers import analyse

GOLDEN = Path(__file__).parents[1] / "golden"
LUCK = json.loads((GOLDEN / "gnubg_luck.json").read_text())["luck"]
SHORT = (
    " 5 point match\n\n Game 1\n Hazel : 0                      Rowan : 0\n  1) 42: 8/4 6/4                 63: 24/15\n"
    "  2)  Doubles => 2                Takes\n  3) 53: 8/3 6/3                 41: 15/10\n"
    "  4) 61: 24/18 8/7               21: 13/10\n      Wins 4 points\n"
)


@pytest.fixture(scope="module")
def judge() -> EnginePlayer:
    return EnginePlayer(GnubgEngine(0))


@pytest.fixture(scope="module")
def short(judge: EnginePlayer) -> tuple[Match, list[dict[str, Any]]]:
    match = parse_match(SHORT, "short.mat")
    return match, list(analyse_decisions(decisions_of(match), judge))


def differences(
    name: str, games: slice = slice(None), rows: Sequence[int] | None = None, index: type[Janowski] = GnubgJanowski
) -> list[float]:
    """How far our luck is from GNUBG's, for the rolls of some games."""
    match, engine, model = read_match(GOLDEN / "matches" / name), GnubgEngine(0), index()
    if match.length == 0:
        match = replace(match, jacoby=True)  # GNUBG's default for money, which match text does not tell
    plays = [one for one in decisions_of(match) if one.kind == "play"]
    assert len(plays) == len(LUCK[name])
    chosen = range(len(match.games))[games]
    asked = [(one, told) for one, told in zip(plays, LUCK[name], strict=True) if one.game - 1 in chosen]
    asked = asked if rows is None else [asked[row] for row in rows]
    return [abs(luck_of_roll(one.position, one.opening, engine, model).equity - told) for one, told in asked]


def test_luck_without_a_live_cube_is_that_of_gnubg() -> None:
    found = differences("gnubg_match_3.mat", slice(1, 2), range(16), Janowski)  # the Crawford game
    assert len(found) == 16
    assert max(found) < 0.001


def test_luck_with_a_live_cube_is_that_of_gnubg_with_its_index() -> None:
    """The three rolls of the matches that differ most with the published index, one of them a game's first."""
    rows = {"gnubg_match_3.mat": [78], "gnubg_match_5.mat": [22, 51]}
    with_its_index = [difference for name, some in rows.items() for difference in differences(name, rows=some)]
    assert max(with_its_index) < 0.0002
    published = [difference for name, some in rows.items() for difference in differences(name, rows=some, index=Janowski)]
    assert min(published) > 0.019


@pytest.mark.slow
def test_luck_of_every_roll_is_that_of_gnubg() -> None:
    found = [difference for name in LUCK for difference in differences(name)]
    assert len(found) == 297 + 236
    assert max(found) < 0.0002


def test_cubeless_luck_is_that_of_the_arenas() -> None:
    position = from_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:42:0:0:0:0:0")
    engine = GnubgEngine(0)
    dice = np.array([[4, 2]], np.int8)
    for opening in (False, True):
        luck, _ = luck_of(position.board[None], dice, np.array([opening]))
        assert luck_of_roll(position, opening, engine, Janowski()).equity == pytest.approx(luck[0], abs=1e-5)


def test_luck_has_mean_zero_with_a_cube_at_a_score() -> None:
    position = from_xgid("XGID=-a--B-D-B---dE---c-da---B-:1:1:1:21:2:1:0:5:10")
    engine, model = GnubgEngine(0), Janowski()
    values = [luck_of_roll(replace(position, dice=(int(a), int(b))), False, engine, model) for a, b in ROLLS]
    assert roll_means(np.array([[luck.equity for luck in values]]))[0] == pytest.approx(0.0, abs=1e-9)
    assert max(luck.stake for luck in values) < 1.0  # a share of the match


def test_every_decision_has_its_record(short: tuple[Match, list[dict[str, Any]]]) -> None:
    _, records = short
    assert [(row["kind"], row["player"], row["done"]) for row in records] == [
        ("play", 0, "8/4 6/4"), ("cube", 1, "no double"), ("play", 1, "24/15"), ("cube", 0, "double"), ("play", 0, "8/3 6/3"),
        ("cube", 1, "no double"), ("play", 1, "15/10"), ("play", 0, "24/18 8/7"), ("cube", 1, "no double"), ("play", 1, "13/10"),
    ]  # fmt: skip
    assert records[3]["answer"] == "take"
    assert records[3]["best_answer"] == "take"
    double = records[3]
    assert double["cost"] == pytest.approx(double["no_double"] - double["double_take"])
    assert double["answer_cost"] == 0.0
    assert double["counts"]
    assert not records[1]["counts"]
    blunder = records[7]
    assert blunder["best"] != blunder["done"]
    assert blunder["cost"] > 0.08
    assert blunder["mwc_cost"] > 0.01
    shown = next(row for row in blunder["candidates"] if row["move"] == "24/18 8/7")
    assert shown["difference"] == pytest.approx(-blunder["cost"])


def test_a_match_costs_what_its_equities_cost() -> None:
    """No chances are searched for: the records do not have them."""
    engine = GnubgEngine(0)
    judge = EnginePlayer(engine, Expectimax(1, Filter("value", 3)))
    play, cube = decisions_of(parse_match(SHORT, "short.mat"))[2], decisions_of(parse_match(SHORT, "short.mat"))[3]
    before = engine.evaluations
    list(analyse_decisions([play, cube], judge))
    spent = engine.evaluations - before
    before = engine.evaluations
    list(analyse([play.question, cube.question], engine, judge.search, judge.cube))
    assert spent < 0.7 * (engine.evaluations - before)


def test_sums_of_the_players(short: tuple[Match, list[dict[str, Any]]]) -> None:
    match, records = short
    left, right = summarise(match, records)
    losses = [row["cost"] for row in records if row["player"] == 0 and row["counts"]]
    assert left["decisions"] == len(losses) == 4
    assert left["pr"] == pytest.approx(500 * sum(losses) / 4)
    assert right["decisions"] == 4
    assert right["cubes"] == 1
    assert left["result"] is None  # 4 points are not 5
    money = parse_match(SHORT.replace("5 point", "0 point"), "money.mat")
    left, right = summarise(money, records)
    net = sum(row["luck_stake"] * (1 if row["player"] == 0 else -1) for row in records if row["luck"] is not None)
    assert left["adjusted"] == pytest.approx(4.0 - net)
    assert right["adjusted"] == pytest.approx(net - 4.0)
    assert combined([left, right])["decisions"] == 8


def test_pages_of_a_match(short: tuple[Match, list[dict[str, Any]]]) -> None:
    match, records = short
    text = "\n".join(decision_lines(match, records, ("White", "Black")))
    assert "game 1, 0-0 of 5" in text
    assert re.search(r"3 White +double", text)
    assert re.search(r"Black +take", text)
    rows = summarise(match, records)
    assert "PR" in player_table(rows, ("White", "Black"), True)[0]
    document = {"judge": "engine gnubg0", "players": rows, "decisions": records, "faults": []}
    page = report(match, document, ("White", "Black"))
    assert page.count('<svg class="board"') == len(records)
    assert "Hazel" not in page
    assert "http" not in page.replace("http://www.w3.org/", "")
    assert "<script" not in page


def test_boards_show_what_is_on_them() -> None:
    position = from_xgid("XGID=-a--B-DBB---bBa---bcbbaA-A:1:1:1:31:0:0:0:0:8")
    root = ElementTree.fromstring(board_svg(position, move="bar/22 24/23"))
    space = "{http://www.w3.org/2000/svg}"
    points = {group.get("data-point"): group for group in root.iter(f"{space}g") if group.get("data-point")}
    assert set(points) == {str(point) for point in range(26)}
    for point in range(1, 25):
        sides = [circle.get("class") for circle in points[str(point)].iter(f"{space}circle")]
        mine, theirs = int(position.board[1, point - 1]), int(position.board[0, 24 - point])
        assert sides == ["checker white"] * min(mine, 5) + ["checker black"] * min(theirs, 5)
    assert len(list(points["25"].iter(f"{space}circle"))) == 1
    upside_down = ElementTree.fromstring(board_svg(position, bottom=1))
    other = {group.get("data-point"): group for group in upside_down.iter(f"{space}g") if group.get("data-point")}
    first = [circle.get("class") for circle in other["24"].iter(f"{space}circle")]
    assert first == ["checker black"] * int(position.board[0, 23]) + ["checker white"] * int(position.board[1, 0])

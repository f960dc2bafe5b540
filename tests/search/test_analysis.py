"""Analysis records against the search itself; reading questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raccoon.contracts import OUTCOME_POINTS, CubeRules, Cubes, RaccoonError
from raccoon.cube.model import Janowski
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.codec import from_position_id, position_id
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import parse_turn
from raccoon.search import Expectimax, Filter, StaticSearch, equities
from raccoon.search.analysis import analyse
from raccoon.search.mcts import MCTS
from raccoon.search.questions import Question, read_dice, read_question
from raccoon.search.rollout import Rollout

GNUBG = GnubgEngine(0)
XGID = "XGID=-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8"


def test_candidates_are_ranked_and_searched() -> None:
    search = Expectimax(1, Filter("value", 3))
    (record,) = analyse([Question(START, (3, 1))], GNUBG, search)
    turns = enumerate_turns(START[None], np.array([[3, 1]]))
    assert len(record["candidates"]) == len(turns.children)
    assert record["candidates"][0]["move"] == "8/5 6/5"
    for place, row in enumerate(record["candidates"]):
        child = parse_turn(START, (3, 1), row["move"])
        assert position_id(child) == row["position"]
        assert row["searched"] == (place < 3)
        assert row["ply"] == (1 if place < 3 else 0)
        assert row["equity"] == pytest.approx(-equities(child[None], row["ply"], GNUBG)[0], abs=1e-6)
        assert np.dot(row["chances"], OUTCOME_POINTS) == pytest.approx(row["equity"], abs=1e-5)
    values = [row["equity"] for row in record["candidates"][:3]]
    assert values == sorted(values, reverse=True)


def test_a_play_that_needs_no_search_is_shown_at_full_depth() -> None:
    search = Expectimax(2, Filter("value", 8, 0.05))
    (record,) = analyse([Question(START, (3, 1))], GNUBG, search)
    first, second = record["candidates"][:2]
    assert (first["ply"], first["searched"], second["ply"], second["searched"]) == (2, True, 0, False)
    child = parse_turn(START, (3, 1), first["move"])
    assert first["equity"] == pytest.approx(-equities(child[None], 2, GNUBG)[0], abs=1e-6)


@pytest.mark.parametrize("ply", [0, 1])
def test_before_the_roll(ply: int) -> None:
    search = Expectimax(ply) if ply else StaticSearch()
    (record,) = analyse([Question(START, None)], GNUBG, search)
    assert record["equity"] == pytest.approx(equities(START[None], ply, GNUBG)[0], abs=1e-6)
    assert np.dot(record["chances"], OUTCOME_POINTS) == pytest.approx(record["equity"], abs=1e-5)
    (scalar,) = analyse([Question(START, None)], RandomEngine(1), search)
    assert scalar["chances"] is None


def test_order_and_batches_change_nothing() -> None:
    questions = [Question(START, (die, 6)) for die in range(1, 7)] + [Question(START, None)] * 5
    together = list(analyse(questions, GNUBG, Expectimax(1)))
    for question, record in zip(questions, together, strict=True):
        (alone,) = analyse([question], GNUBG, Expectimax(1))
        drop = {"seconds", "evaluations"}
        assert {k: v for k, v in alone.items() if k not in drop} == {k: v for k, v in record.items() if k not in drop}


@pytest.mark.parametrize("dice", [(3, 1), (6, 2)])  # the first has one candidate within the window
def test_rolled_out_plays_show_the_trials(dice: tuple[int, int]) -> None:
    search = Rollout(36, 2, filter=Filter("value", 3, 0.08))
    (record,) = analyse([Question(START, dice)], GNUBG, search)
    rolled = [row for row in record["candidates"] if row["se"] is not None]
    assert [row["searched"] for row in record["candidates"]] == [row["se"] is not None for row in record["candidates"]]
    assert len(rolled) == (1 if dice == (3, 1) else 3)
    expected = search.roll(np.stack([from_position_id(row["position"]) for row in rolled]), GNUBG)
    for place, row in enumerate(rolled):
        assert row["equity"] == pytest.approx(-expected.equity[place], abs=1e-12)
        assert row["se"] == pytest.approx(expected.se[place], abs=1e-12)
        assert row["chances"] == pytest.approx(expected.probs6[place][[3, 4, 5, 0, 1, 2]], abs=1e-12)
    left = record["candidates"][-1]
    assert np.dot(left["chances"], OUTCOME_POINTS) == pytest.approx(left["equity"], abs=1e-5)


def test_a_position_is_rolled_out_before_the_roll() -> None:
    search = Rollout(36, 2)
    (record,) = analyse([Question(START, None)], GNUBG, search)
    expected = search.roll(START[None], GNUBG)
    assert (record["equity"], record["se"]) == (expected.equity[0], expected.se[0])
    assert record["chances"] == expected.probs6[0].tolist()
    (scalar,) = analyse([Question(START, None)], RandomEngine(1), search)
    assert scalar["chances"] is None


def test_before_the_roll_a_tree_is_grown() -> None:
    """The equity is that of the tree, not the static one, and no chances are shown that are not behind it."""
    engine, search = GNUBG, MCTS(simulations=40)
    board = from_position_id("4HPwATDgc/ABMA")
    plain, rolled = analyse([Question(board, None), Question(board, (3, 1))], engine, search)
    assert plain["equity"] == 3.0 * search.pre_roll(board[None], engine)[0]
    assert plain["equity"] != pytest.approx(3.0 * engine.value(board[None])[0], abs=1e-4)
    assert plain["chances"] is None
    assert {candidate["chances"] for candidate in rolled["candidates"]} == {None}


def test_every_engine_is_counted() -> None:
    prune = RandomEngine(2)
    search = Expectimax(1, Filter("value", 2), prune=prune, shortlist=2)
    engine = RandomEngine(1)
    (record,) = analyse([Question(START, (2, 1))], engine, search)
    assert prune.evaluations > 0
    assert record["evaluations"] == engine.evaluations + prune.evaluations


@pytest.mark.parametrize(("value", "dice"), [([3, 1], (3, 1)), (31, (3, 1)), ("3 1", (3, 1)), ("6-6", (6, 6)), (None, None)])
def test_dice_are_read(value: object, dice: object) -> None:
    assert read_dice(value) == dice


@pytest.mark.parametrize(
    "value", [[3], "37", 7, "abc", [0, 1], [1, 2, 3], [3, "x"], [True, 1], -31, "-31", float("inf"), [float("inf"), 1]]
)
def test_bad_dice_are_refused(value: object) -> None:
    with pytest.raises(RaccoonError, match="dice"):
        read_dice(value)


def test_questions_are_read() -> None:
    assert read_question("4HPwATDgc/ABMA").dice is None
    found = read_question(XGID)
    assert position_id(found.board) == "4HPkASjg2+ABMA"
    assert found.dice is not None
    assert set(found.dice) == {6, 1}
    assert read_question(XGID, [2, 2]).dice == (2, 2)
    for bad in ("4HPwATDgc/ABM", "!!!!!!!!!!!!!!", 12, None, "XGID=a:b"):
        with pytest.raises(ValueError, match=r"position|Position ID|XGID"):
            read_question(bad)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("1:1:1:B:0:0:2:0:10", "a beaver waits"),
        ("1:1:1:R:0:0:2:0:10", "a raccoon waits"),
        ("30:0:1:00:0:0:0:7:30", "the cube is at 2**30; 2**20 is the most"),
        ("21:1:1:00:0:0:0:0:30", "the cube is at 2**21"),
        ("0:0:1:00:0:0:0:26:10", "26 points to go; the match equity table ends at 25"),
        ("0:0:1:00:0:0:0:100000:10", "100000 points to go"),
        ("0:0:1:00:0:0:1:7:10", "no Crawford game at 7 away against 7 away"),
        ("0:0:1:00:6:6:1:7:10", "no Crawford game at 1 away against 1 away"),
        ("1:1:1:00:6:0:1:7:10", "the cube has been turned in a Crawford game"),
    ],
)
def test_cubes_and_scores_that_cannot_be_are_refused(rest: str, message: str) -> None:
    with pytest.raises(RaccoonError) as caught:
        read_question(f"XGID=-b----E-C---eE---c-e----B-:{rest}")
    assert message in str(caught.value)


def test_the_highest_cube_is_valued_like_any_other() -> None:
    board = "XGID=-b----E-C---eE---c-e----B-"
    low, high = (cubeful(f"{board}:{exponent}:1:1:00:0:0:2:0:{exponent}", Expectimax(1)) for exponent in (1, 20))
    assert high["cube"]["value"] == 1 << 20
    assert high["cube_action"] == low["cube_action"]


def cubeful(text: str, search: Any = None, dice: Any = None) -> dict[str, Any]:
    (record,) = analyse([read_question(text, dice)], GNUBG, search or StaticSearch(), Janowski())
    return record


@pytest.mark.parametrize(
    ("position", "action"),
    [
        ("AQAAiAAAAAAAAA", "double, take"),
        ("DwAA4AEAAAAAAA", "double, pass"),
        ("4HPwATDgc/ABMA", "no double, take"),
    ],
)
def test_cube_action_before_the_roll(position: str, action: str) -> None:
    record = cubeful(position, Expectimax(1))
    assert record["cube_action"]["action"] == action
    nd, dt, dp = (record["cube_action"][name] for name in ("no_double", "double_take", "double_pass"))
    assert record["equity"] == pytest.approx(max(nd, min(dt, dp)))
    assert record["cube"] == {"value": 1, "owner": "centered", "jacoby": False, "beavers": False, "away": None, "crawford": False}


def test_the_cube_of_an_xgid_counts() -> None:
    board = "-b----E-C---eE---c-e----B-"
    held = {owner: cubeful(f"XGID={board}:1:{owner}:1:00:0:0:0:0:10") for owner in (1, -1)}
    assert held[1]["cube"]["owner"] == "player"
    assert held[1]["cube"]["value"] == 2
    assert held[1]["equity"] > held[-1]["equity"]
    assert held[1]["cube_action"]["action"].startswith("no redouble")
    assert held[-1]["cube_action"]["action"] == "no cube action"
    jacoby = cubeful(f"XGID={board}:0:0:1:00:0:0:3:0:10")["cube"]
    assert (jacoby["jacoby"], jacoby["beavers"]) == (True, True)
    match = cubeful(f"XGID={board}:0:0:1:00:2:4:0:5:10")
    assert match["cube"]["away"] == [3, 1]
    crawford = cubeful(f"XGID={board}:0:0:1:00:2:4:1:5:10")
    assert crawford["cube"]["crawford"]
    assert crawford["cube_action"]["action"] == "no cube action"
    with pytest.raises(RaccoonError, match="ends at 25"):
        cubeful(f"XGID={board}:0:0:1:00:0:0:0:40:10")


def test_plays_are_ranked_with_the_cube() -> None:
    record = cubeful("4HPwATDgc/ABMA", Expectimax(1), "31")
    turns = enumerate_turns(START[None], np.array([[3, 1]]), Cubes.centred(1, CubeRules()))
    expected = Expectimax(1).cubeful(turns, GNUBG, Janowski()).values
    assert [each["equity"] for each in record["candidates"]] == pytest.approx(sorted(3 * expected, reverse=True))
    assert record["candidates"][0]["move"] == "8/5 6/5"
    assert "cube_action" not in record


def test_who_cannot_play_with_a_cube_is_told() -> None:
    with pytest.raises(RaccoonError, match="cubeful=true"):
        next(analyse([Question(START, None)], RandomEngine(1), StaticSearch(), Janowski()))
    with pytest.raises(RaccoonError, match="cubeful=true"):
        next(analyse([Question(START, None)], GNUBG, Rollout(36, 2), Janowski()))

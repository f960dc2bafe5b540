"""Analysis records against the search itself; reading questions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeEquities, CubeRules, Cubes, RaccoonError
from raccoon.cube.model import Janowski
from raccoon.engine.base import EngineBase
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.formats.xgid import Position
from raccoon.env.movegen import enumerate_turns
from raccoon.env.notation import parse_turn
from raccoon.env.position_ids import from_position_id, position_id
from raccoon.search import Expectimax, Filter, StaticSearch, equities
from raccoon.search.analysis.answers import analyse
from raccoon.search.analysis.questions import Question, read_dice, read_question
from raccoon.search.analysis.records import cube_action
from raccoon.search.mcts.search import MCTS
from raccoon.search.rollout.search import Rollout

GNUBG = GnubgEngine(0)
XGID = "XGID=-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8"


def cumulative(six: Any) -> dict[str, float]:
    """As GNUBG tells them: a gammon is a win too, a backgammon a gammon too."""
    win, gammon, backgammon, lose, lost_gammon, lost_backgammon = map(float, six)
    return {
        "win": win + gammon + backgammon,
        "win_gammon": gammon + backgammon,
        "win_backgammon": backgammon,
        "lose": lose + lost_gammon + lost_backgammon,
        "lose_gammon": lost_gammon + lost_backgammon,
        "lose_backgammon": lost_backgammon,
    }


def points(row: dict[str, Any]) -> float:
    """Money points of cumulative chances."""
    chances = row["chances"]
    return sum(chances[name] - chances[name.replace("win", "lose")] for name in ("win", "win_gammon", "win_backgammon"))


def test_candidates_are_ranked_and_searched() -> None:
    search = Expectimax(1, Filter("value", 3))
    (record,) = analyse([Question(Position(START, (3, 1)))], GNUBG, search)
    turns = enumerate_turns(START[None], np.array([[3, 1]]))
    assert len(record["candidates"]) == len(turns.children)
    assert record["candidates"][0]["move"] == "8/5 6/5"
    for place, row in enumerate(record["candidates"]):
        child = parse_turn(START, (3, 1), row["move"])
        assert position_id(child) == row["position"]
        assert row["searched"] == (place < 3)
        assert row["ply"] == (1 if place < 3 else 0)
        assert row["equity"] == pytest.approx(-equities(child[None], row["ply"], GNUBG)[0], abs=1e-6)
        assert points(row) == pytest.approx(row["equity"], abs=1e-5)
    values = [row["equity"] for row in record["candidates"][:3]]
    assert values == sorted(values, reverse=True)


def test_a_play_that_needs_no_search_is_shown_at_full_depth() -> None:
    search = Expectimax(2, Filter("value", 8, 0.05))
    (record,) = analyse([Question(Position(START, (3, 1)))], GNUBG, search)
    first, second = record["candidates"][:2]
    assert (first["ply"], first["searched"], second["ply"], second["searched"]) == (2, True, 0, False)
    child = parse_turn(START, (3, 1), first["move"])
    assert first["equity"] == pytest.approx(-equities(child[None], 2, GNUBG)[0], abs=1e-6)


@pytest.mark.parametrize("ply", [0, 1])
def test_before_the_roll(ply: int) -> None:
    search = Expectimax(ply) if ply else StaticSearch()
    (record,) = analyse([Question(Position(START))], GNUBG, search)
    assert record["equity"] == pytest.approx(equities(START[None], ply, GNUBG)[0], abs=1e-6)
    assert points(record) == pytest.approx(record["equity"], abs=1e-5)
    (scalar,) = analyse([Question(Position(START))], RandomEngine(1), search)
    assert scalar["chances"] is None


def test_order_and_batches_change_nothing() -> None:
    questions = [Question(Position(START, (die, 6))) for die in range(1, 7)] + [Question(Position(START))] * 5
    together = list(analyse(questions, GNUBG, Expectimax(1)))
    for question, record in zip(questions, together, strict=True):
        (alone,) = analyse([question], GNUBG, Expectimax(1))
        drop = {"seconds", "evaluations"}
        assert {k: v for k, v in alone.items() if k not in drop} == {k: v for k, v in record.items() if k not in drop}


@pytest.mark.parametrize("dice", [(3, 1), (6, 2)])  # the first has one candidate within the window
def test_rolled_out_plays_show_the_trials(dice: tuple[int, int]) -> None:
    search = Rollout(36, 2, filter=Filter("value", 3, 0.08))
    (record,) = analyse([Question(Position(START, dice))], GNUBG, search)
    rolled = [row for row in record["candidates"] if row["se"] is not None]
    assert [row["searched"] for row in record["candidates"]] == [row["se"] is not None for row in record["candidates"]]
    assert len(rolled) == (1 if dice == (3, 1) else 3)
    expected = search.roll(np.stack([from_position_id(row["position"]) for row in rolled]), GNUBG)
    for place, row in enumerate(rolled):
        assert row["equity"] == pytest.approx(-expected.equity[place], abs=1e-12)
        assert row["se"] == pytest.approx(expected.se[place], abs=1e-12)
        assert row["chances"] == pytest.approx(cumulative(expected.probs6[place][[3, 4, 5, 0, 1, 2]]), abs=1e-12)
    left = record["candidates"][-1]
    assert points(left) == pytest.approx(left["equity"], abs=1e-5)


def test_a_position_is_rolled_out_before_the_roll() -> None:
    search = Rollout(36, 2)
    (record,) = analyse([Question(Position(START))], GNUBG, search)
    expected = search.roll(START[None], GNUBG)
    assert (record["equity"], record["se"]) == (expected.equity[0], expected.se[0])
    assert record["chances"] == pytest.approx(cumulative(expected.probs6[0]))
    (scalar,) = analyse([Question(Position(START))], RandomEngine(1), search)
    assert scalar["chances"] is None


def test_before_the_roll_a_tree_is_grown() -> None:
    """The equity is that of the tree, not the static one, and no chances are shown that are not behind it."""
    engine, search = GNUBG, MCTS(simulations=40)
    board = from_position_id("4HPwATDgc/ABMA")
    plain, rolled = analyse([Question(Position(board)), Question(Position(board, (3, 1)))], engine, search)
    assert plain["equity"] == 3.0 * search.pre_roll(board[None], engine)[0]
    assert plain["equity"] != pytest.approx(3.0 * engine.value(board[None])[0], abs=1e-4)
    assert plain["chances"] is None
    assert {candidate["chances"] for candidate in rolled["candidates"]} == {None}


def test_every_engine_is_counted() -> None:
    prune = RandomEngine(2)
    search = Expectimax(1, Filter("value", 2), prune=prune, shortlist=2)
    engine = RandomEngine(1)
    (record,) = analyse([Question(Position(START, (2, 1)))], engine, search)
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
    assert read_question("4HPwATDgc/ABMA").position.dice is None
    found = read_question(XGID).position
    assert position_id(found.board) == "4HPkASjg2+ABMA"
    assert found.dice is not None
    assert set(found.dice) == {6, 1}
    assert read_question(XGID, [2, 2]).position.dice == (2, 2)
    for bad in ("4HPwATDgc/ABM", "!!!!!!!!!!!!!!", 12, None, "XGID=a:b"):
        with pytest.raises(ValueError, match=r"position|Position ID|XGID"):
            read_question(bad)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("1:1:1:B:0:0:2:0:10", "a beaver waits"),
        ("1:1:1:R:0:0:2:0:10", "a raccoon waits"),
        ("30:1:1:00:0:0:0:7:30", "the cube is at 2**30; 2**20 is the most"),
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


class Wrong(EngineBase):
    """An engine that knows nothing."""

    def _probs6(self, live: np.ndarray) -> np.ndarray:
        return np.tile([0.4, 0.2, 0.0, 0.2, 0.1, 0.1], (len(live), 1))


@pytest.mark.parametrize("text", ["PwAAgB8AAAAAAA", "XGID=-F----------------------f-:0:0:1:00:2:4:0:7:10"], ids=["money", "match"])
@pytest.mark.parametrize("search", [StaticSearch(), Expectimax(1)], ids=lambda search: search.name)
def test_chances_beside_exact_equities_are_exact(text: str, search: Any) -> None:
    """From the two-sided table that knows no cube."""
    exact, board = BearoffEngine(6), from_position_id("PwAAgB8AAAAAAA")
    (before,) = analyse([read_question(text)], Wrong("wrong"), search, Janowski(), True)
    assert before["chances"]["win"] == pytest.approx(exact.probs6(board[None])[0, 0], abs=1e-6)
    assert (before["chances"]["win_gammon"], before["chances"]["lose_gammon"]) == (0.0, 0.0)
    (rolled,) = analyse([read_question(text, 21)], Wrong("wrong"), search, Janowski(), True)
    for play in rolled["candidates"]:
        left = exact.probs6(from_position_id(play["position"])[None])[0, 0]
        assert play["chances"]["win"] == pytest.approx(1.0 - left, abs=1e-6)
    (plain,) = analyse([read_question("PwAAgB8AAAAAAA")], Wrong("wrong"), StaticSearch(), Janowski(bearoff=False), True)
    assert plain["chances"]["win"] == pytest.approx(0.6)


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
        next(analyse([Question(Position(START))], RandomEngine(1), StaticSearch(), Janowski()))
    with pytest.raises(RaccoonError, match="cubeful=true"):
        next(analyse([Question(Position(START))], GNUBG, Rollout(36, 2), Janowski()))


BOARD = "-b----E-C---eE---c-e----B-"


@pytest.mark.parametrize(
    ("xgid", "gnubg_id"),
    [
        (f"XGID={BOARD}:0:0:1:00:4:2:0:7:10", "4HPwATDgc/ABMA:cAngACAAIAAE"),
        (f"XGID={BOARD}:0:0:1:31:0:0:1:0:10", "4HPwATDgc/ABMA:cIkFAAAAAAAA"),
    ],
)
def test_a_gnubg_id_is_read_with_cube_score_and_dice(xgid: str, gnubg_id: str) -> None:
    told, expected = (read_question(text) for text in (gnubg_id, xgid))
    assert told.position == expected.position
    assert told.cube() == expected.cube()
    assert told.own_cube
    assert told.as_record() == expected.as_record() | {"input": gnubg_id}


def automatic(text: str, search: Any, engine: Any = GNUBG, cubeful: bool | None = None) -> dict[str, Any]:
    (record,) = analyse([read_question(text)], engine, search, Janowski(), cubeful)
    return record


def test_the_cube_of_an_id_is_used_or_said_to_be_ignored() -> None:
    text = f"XGID={BOARD}:0:0:1:00:4:2:0:7:10"
    used = automatic(text, StaticSearch())
    assert used["cube"]["away"] == [3, 5]
    assert used["notes"] == []
    grown = automatic(text, MCTS(simulations=40))
    assert (grown["cube"], grown["cube_action"]["action"]) == (used["cube"], used["cube_action"]["action"])
    assert grown["equity"] == pytest.approx(used["equity"], abs=0.2)
    assert automatic("4HPwATDgc/ABMA", StaticSearch())["cube"] is None
    assert automatic("4HPwATDgc/ABMA", StaticSearch())["notes"] == []
    for search, engine, cubeful, reason in [
        (MCTS(simulations=3), GNUBG, False, "cubeful=false"),
        (Rollout(36, 1), GNUBG, None, "rollout36t1 with gnubg0 is cubeless"),
        (StaticSearch(), RandomEngine(1), None, "static with random1 is cubeless"),
        (StaticSearch(), GNUBG, False, "cubeful=false"),
    ]:
        record = automatic(text, search, engine, cubeful)
        assert record["cube"] is None
        assert record["notes"][0] == f"the cube and the score are ignored ({reason}): equities are cubeless money points"


def test_a_limit_of_0_is_a_game_without_the_cube() -> None:
    plain, text = automatic("4HPwATDgc/ABMA", StaticSearch()), f"XGID={BOARD}:0:0:1:00:0:0:3:0:0"
    for cubeful in (None, True):
        record = automatic(text, StaticSearch(), cubeful=cubeful)
        assert (record["cube"], record["equity"]) == (None, plain["equity"])
        assert "the limit 0 is a game without it" in record["notes"][0]
    with pytest.raises(RaccoonError, match="the limit 0 leaves out the cube that match equities count on"):
        read_question(f"XGID={BOARD}:0:0:1:00:0:0:0:5:0")


def test_records_say_where_they_come_from_and_what_they_cost() -> None:
    questions = [read_question(text, line=line) for line, text in enumerate((XGID, " 4HPwATDgc/ABMA"), start=3)]
    records = list(analyse(questions, GNUBG, Expectimax(1)))
    assert [(each["input"], each["line"]) for each in records] == [(XGID, 3), (" 4HPwATDgc/ABMA", 4)]
    assert [each["xgid"] for each in records] == [XGID, f"XGID={BOARD}:0:0:1:00:0:0:0:0:10"]
    assert [(each["engine"], each["search"], each["ply"]) for each in records] == [("gnubg0", Expectimax(1).name, 1)] * 2
    for question, record in zip(questions, records, strict=True):
        (alone,) = analyse([question], GNUBG, Expectimax(1))
        assert record["evaluations"] == alone["evaluations"] > 0
    assert records[0]["evaluations"] != records[1]["evaluations"]


def test_static_questions_share_calls_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is told what it would have been told alone; the engine is called a few times in all."""
    questions = [read_question("4HPwATDgc/ABMA", dice) for dice in [None, *range(61, 67), *range(51, 57)] * 2]
    alone = [next(analyse([question], RandomEngine(1), StaticSearch())) for question in questions]
    engine, calls = RandomEngine(1), []
    value = engine.value
    monkeypatch.setattr(engine, "value", lambda boards: calls.append(len(boards)) or value(boards))
    together = list(analyse(questions, engine, StaticSearch()))
    assert [record | {"seconds": 0} for record in together] == [record | {"seconds": 0} for record in alone]
    assert len(calls) <= 5  # of 1, 2, 4, 8 and 16 questions
    assert sum(calls) < sum(record["evaluations"] for record in together)


def test_match_equities_are_those_of_gnubg() -> None:
    """MWC, and its normalised equity by GNUBG's own function and table."""
    gnubg: Any = importlib.import_module("gnubg")
    for value, owner, score in [(1, CENTRED, (4, 2)), (2, OWNED, (4, 2)), (2, OPPONENT, (1, 5))]:
        record = cubeful(f"XGID={BOARD}:{value - 1}:{owner}:1:00:{score[0]}:{score[1]}:0:7:10")
        gnubg_owner = {CENTRED: -1, OWNED: 1, OPPONENT: 0}[owner]
        cube = gnubg.cubeinfo(value, gnubg_owner, 1, 7, score[::-1], 0, 0)
        assert record["equity"] == pytest.approx(gnubg.mwc2eq(record["mwc"], cube), abs=2e-3)
        action = record["cube_action"]
        assert action["double_pass"] == pytest.approx(1.0)
        for name in ("no_double", "double_take", "double_pass"):
            assert action[name] == pytest.approx(gnubg.mwc2eq(action["mwc"][name], cube), abs=2e-3)
    money = cubeful("AQAAiAAAAAAAAA")
    assert (money["mwc"], money["cube_action"]["mwc"]) == (None, None)


def test_plays_at_a_score_have_both_equities() -> None:
    record = cubeful(f"XGID={BOARD}:0:0:1:31:4:2:0:7:10")
    first, *others = record["candidates"]
    for row in others:
        assert row["mwc"] < first["mwc"]
        assert row["difference"] == pytest.approx(row["equity"] - first["equity"])
        ratio = (first["mwc"] - row["mwc"]) / (first["equity"] - row["equity"])
        assert ratio == pytest.approx((others[-1]["mwc"] - first["mwc"]) / (others[-1]["equity"] - first["equity"]))


@pytest.mark.parametrize(
    ("equities", "owner", "verdict", "answer"),
    [
        ((0.5, 0.7, 1.0), CENTRED, "double", "take"),
        ((0.8, 1.2, 1.0), OWNED, "redouble", "pass"),
        ((0.3, 0.2, 1.0), CENTRED, "no double", "take"),
        ((-0.3, -0.9, 1.0), CENTRED, "no double", "beaver"),
        ((1.2, 1.4, 1.0), CENTRED, "too good to double", "pass"),
        ((1.2, 0.9, 1.0), CENTRED, "too good to double", "take"),
        ((1.2, 0.9, 1.0), OWNED, "too good to redouble", "take"),
        ((1.0, 2.0, 1.0), CENTRED, "double", "pass"),  # nothing left to win but the point
        ((0.3, 0.2, 1.0), OPPONENT, "no cube action", None),
    ],
)
def test_every_verdict(equities: tuple[float, ...], owner: int, verdict: str, answer: str | None) -> None:
    """GNUBG's names for the order of the three equities."""
    cubes = Cubes(np.ones(1, np.int32), np.array([owner], np.int8), CubeRules(beavers=True))
    told = cube_action(CubeEquities(*(np.array([value]) for value in equities)), cubes)
    assert (told["verdict"], told["answer"]) == (verdict, answer)
    assert told["action"] == (f"{verdict}, {answer}" if answer else verdict)


@pytest.mark.parametrize(
    ("xgid", "action"),
    [
        ("XGID=-DA-bCF-a---a-aAa---a-abe-:0:0:1:00:0:0:0:0:10", "too good to double, pass"),
        ("XGID=-DA-bCF-a---a-aAa---a-abe-:1:1:1:00:0:0:0:0:10", "too good to redouble, pass"),
        ("XGID=-FEAB-cb----ba---a-aa-baaA:0:0:1:00:5:0:0:7:10", "too good to double, take"),
        ("XGID=-GFA--ac-a--b--Aaa-a---cb-:1:1:1:00:4:3:0:7:10", "too good to redouble, take"),
    ],
)
def test_too_good_with_and_without_a_take(xgid: str, action: str) -> None:
    assert cubeful(xgid)["cube_action"]["action"] == action


@pytest.mark.parametrize(
    ("search", "depth"),
    [(StaticSearch(), 0), (Expectimax(1, Filter("value", 2)), 1), (Expectimax(2, Filter("value", 8, 0.05)), 2), (Rollout(36, 2), None)],
    ids=["static", "expectimax", "clear", "rollout"],
)
def test_what_a_play_costs(search: Any, depth: int | None) -> None:
    """It is searched as deeply as the best play, also where the search would have left it out."""
    (record,) = analyse([read_question("4HPwATDgc/ABMA", "31", "24/21 6/5")], GNUBG, search)
    assert record["move"] == "24/21 6/5"
    (row,) = (each for each in record["candidates"] if each["move"] == "24/21 6/5")
    best = record["candidates"][0]
    assert best["move"] == "8/5 6/5"
    assert row["searched"]
    assert row["ply"] == best["ply"] == depth
    assert record["played"] == {"rank": row["rank"], "cost": pytest.approx(best["equity"] - row["equity"]), "mwc_cost": None}
    assert record["played"]["cost"] > 0.05
    child = from_position_id(row["position"])[None]
    if depth is not None:
        assert row["equity"] == pytest.approx(-equities(child, depth, GNUBG)[0], abs=1e-6)
    else:
        assert row["equity"] == pytest.approx(-search.roll(child, GNUBG).equity[0], abs=1e-12)


def test_what_a_play_costs_at_a_score_and_in_a_tree() -> None:
    (record,) = analyse([read_question(f"XGID={BOARD}:0:0:1:31:4:2:0:7:10", None, "24/21 6/5")], GNUBG, Expectimax(1), Janowski())
    (row,) = (each for each in record["candidates"] if each["move"] == "24/21 6/5")
    assert record["played"]["mwc_cost"] == pytest.approx(record["candidates"][0]["mwc"] - row["mwc"])
    assert row["ply"] == 1
    search = MCTS(simulations=10)
    (record,) = analyse([read_question("4HPwATDgc/ABMA", "31", "24/21 6/5")], GNUBG, search)
    (row,) = (each for each in record["candidates"] if each["move"] == "24/21 6/5")
    assert row["equity"] == -3.0 * search.pre_roll(from_position_id(row["position"])[None], GNUBG)[0]
    assert record["notes"][0] == "no chances: a tree of MCTS averages equities, not outcomes"
    assert "by its visits" in record["notes"][1]
    (before,) = analyse([read_question("4HPwATDgc/ABMA")], GNUBG, search)
    assert len(before["notes"]) == 1  # no plays, so nothing about their rank


@pytest.mark.parametrize(
    "rest", ["1:-1:1:D:0:0:0:0:10", "10:1:1:D:0:0:0:0:10", "0:0:1:D:6:0:1:7:10", "0:0:1:D:6:6:0:7:10", "0:0:1:D:0:0:0:0:0"]
)
def test_a_double_that_nobody_can_have_made_is_refused(rest: str) -> None:
    """The cube is the other side's, at its limit or dead, the game the Crawford game or one without a cube."""
    with pytest.raises(RaccoonError, match="cannot have doubled"):
        read_question(f"XGID={BOARD}:{rest}")
    assert read_question(f"XGID={BOARD}:1:1:1:D:0:0:0:0:10").position.cube_action == "double"


@pytest.mark.parametrize(
    ("move", "dice", "message"),
    [("24/22", "31", "not a legal play"), ("24/21 6/5", None, "needs the dice"), (5, "31", "move=5: give a play")],
)
def test_moves_that_are_no_play_are_refused(move: Any, dice: Any, message: str) -> None:
    with pytest.raises(RaccoonError, match=message):
        read_question("4HPwATDgc/ABMA", dice, move)


def test_without_chances_the_equities_are_the_same_and_cost_half() -> None:
    questions = [Question(Position(START, dice, match_length=5), True) for dice in ((3, 1), None)]
    search, model = Expectimax(1, Filter("value", 3)), Janowski()
    told = list(analyse(questions, GNUBG, search, model))
    short = list(analyse(questions, GNUBG, search, model, chances=False))
    for full, brief in zip(told, short, strict=True):
        assert brief["evaluations"] < 0.6 * full["evaluations"]
    plays, cube = short
    assert [row["equity"] for row in plays["candidates"]] == [row["equity"] for row in told[0]["candidates"]]
    assert {row["chances"] for row in plays["candidates"]} == {None}
    assert cube["cube_action"] == told[1]["cube_action"]
    assert cube["equity"] == told[1]["equity"]
    assert (cube["chances"], cube["cube_points"]) == (None, None)

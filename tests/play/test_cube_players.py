"""Players with their own cube, the GNU Backgammon program and Open Sage: published cases, rules, matches, agreement."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import bgsage
import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, CubeRules, Cubes, RaccoonError, Turns
from raccoon.engine.gnubg import GnubgEngine
from raccoon.env.board import START
from raccoon.env.formats.board26 import to_board26
from raccoon.env.position_ids import from_position_id
from raccoon.play import play_games
from raccoon.play.gnubg_cli import GnubgCliPlayer
from raccoon.play.gnubg_process import find_program
from raccoon.play.sage_player import SagePlayer
from raccoon.search.lookahead import child_values
from raccoon.testing import check_player, sample_boards, sample_turns

EXACT = json.loads((Path(__file__).parents[1] / "golden" / "cube_exact.json").read_text())
PLAIN = CubeRules()
NAMES = {CENTRED: "centered", OWNED: "player", OPPONENT: "opponent"}
try:
    find_program()
    MISSING = ""
except RaccoonError as error:
    MISSING = str(error)
needs_program = pytest.mark.skipif(bool(MISSING), reason=MISSING)
PLAYERS = [pytest.param("gnubg", marks=needs_program), "sage"]


@pytest.fixture(scope="module")
def players() -> dict[str, Any]:
    return {"sage": SagePlayer(), **({} if MISSING else {"gnubg": GnubgCliPlayer()})}


def cubes(n: int, owner: int = CENTRED, rules: CubeRules | None = PLAIN, value: int | None = None) -> Cubes:
    value = value or (1 if owner == CENTRED else 2)
    return Cubes(np.full(n, value, np.int32), np.full(n, owner, np.int8), rules)


def match_cubes(n: int, mine: int, theirs: int, crawford: bool = False, owner: int = CENTRED, value: int = 1) -> Cubes:
    away = np.repeat(np.array([[mine, theirs]], np.int16), n, 0)
    return Cubes(np.full(n, value, np.int32), np.full(n, owner, np.int8), CubeRules(), away, np.full(n, crawford))


def mixed(n: int, rules: CubeRules) -> Cubes:
    owner = (np.arange(n) % 3 - 1).astype(np.int8)
    return Cubes(np.where(owner == CENTRED, 1, 2).astype(np.int32), owner, rules)


def under(turns: Turns, cube: Cubes) -> Turns:
    return Turns(turns.boards, turns.dice, cube, turns.children, turns.offsets)


@pytest.mark.parametrize("name", PLAYERS)
def test_conforms(players: dict[str, Any], name: str) -> None:
    check_player(players[name])


@pytest.mark.parametrize("name", [PLAYERS[0], "sage2"])
def test_exact_endings(players: dict[str, Any], name: str) -> None:
    # Sage needs one look ahead here: at 1P its cube is as live before the last roll as at any other time
    player = SagePlayer("2P") if name == "sage2" else players[name]
    boards = np.stack([from_position_id(case["id"]) for case in EXACT])
    for owner, no_double in ((CENTRED, "nd_centred"), (OWNED, "nd_owned")):
        assert player.double(boards, cubes(4, owner)).tolist() == [min(case["dt"], 1.0) > case[no_double] for case in EXACT]
        for case, took in zip(EXACT, player.take(boards, cubes(4, owner)), strict=True):
            if case["dt"] != 1.0:  # where taking and passing are worth the same both are right
                assert took == (case["dt"] < 1), case["name"]


@pytest.mark.parametrize("name", PLAYERS)
def test_the_opening_position_is_no_double_and_a_take(players: dict[str, Any], name: str) -> None:
    both = np.stack([START, START])
    for owner in (CENTRED, OWNED):
        for rules in (CubeRules(), CubeRules(jacoby=True), CubeRules(beavers=True)):
            assert not players[name].double(both, cubes(2, owner, rules)).any()
            assert players[name].take(both, cubes(2, owner, rules)).all()


@pytest.mark.parametrize("name", PLAYERS)
def test_jacoby_turns_gammons_that_do_not_count_into_doubles(players: dict[str, Any], name: str) -> None:
    # closed board, four on the bar: too good to double, except where undoubled gammons count a point
    board = np.zeros((2, 25), np.int8)
    board[1, :6], board[1, 6], board[0, 24], board[0, 0], board[0, 12] = 2, 3, 4, 5, 6
    for jacoby, owner, expected in ((False, CENTRED, False), (True, CENTRED, True), (True, OWNED, False)):
        assert players[name].double(board[None], cubes(1, owner, CubeRules(jacoby=jacoby))).tolist() == [expected]
        assert not players[name].take(board[None], cubes(1, owner, CubeRules(jacoby=jacoby))).any()


@pytest.mark.parametrize("name", PLAYERS)
def test_beavers_need_the_rule_and_a_bad_double(players: dict[str, Any], name: str) -> None:
    boards = sample_boards(30, seed=3)
    wrong = players[name].beaver(boards, cubes(30, rules=CubeRules(beavers=True)))
    assert 0 < wrong.sum() < 30
    assert not players[name].beaver(boards, cubes(30)).any()
    assert players[name].take(boards, cubes(30, rules=CubeRules(beavers=True)))[wrong].all()
    # who beavers is the favourite
    assert (GnubgEngine(0).value(boards[wrong]) < 0.1).all()


@pytest.mark.parametrize("name", PLAYERS)
def test_rows_that_may_not_double_are_not_asked(players: dict[str, Any], name: str) -> None:
    boards = np.stack([from_position_id(case["id"]) for case in EXACT])
    held = (
        cubes(4, OPPONENT),
        match_cubes(4, 3, 1, crawford=True),
        match_cubes(4, 1, 3),
        cubes(4, OWNED, value=1024),
        cubes(4, rules=None),
    )
    for cube in held:
        assert not players[name].double(boards, cube).any()


@pytest.mark.parametrize("name", PLAYERS)
def test_the_trailer_doubles_after_the_crawford_game(players: dict[str, Any], name: str) -> None:
    """At once, and the leader has a free drop when the trailer's points to go are even: it passes while it is the underdog."""
    player = players[name]
    for away, takes in ((3, True), (4, False)):
        assert player.double(START[None], match_cubes(1, away, 1)).tolist() == [True]
        assert player.take(START[None], match_cubes(1, away, 1)).tolist() == [takes]
    assert not player.double(START[None], match_cubes(1, 2, 4)).any()


@pytest.mark.parametrize("name", PLAYERS)
def test_plays_under_every_cube(players: dict[str, Any], name: str) -> None:
    turns = sample_turns(24, seed=9)
    sizes = np.diff(turns.offsets)
    for cube in (mixed(24, CubeRules()), mixed(24, CubeRules(True, True)), match_cubes(24, 3, 2), match_cubes(24, 1, 4, crawford=True)):
        asked = under(turns, cube)
        chosen = players[name].choose(asked)
        assert ((chosen >= 0) & (chosen < sizes)).all()
        assert np.array_equal(players[name].choose(asked), chosen)
    nothing = Turns(turns.boards[:0], turns.dice[:0], cubes(0), turns.children[:0], turns.offsets[:1])
    assert players[name].choose(nothing).shape == (0,)
    assert players[name].double(nothing.boards, nothing.cubes).shape == (0,)


@needs_program
def test_the_program_plays_like_its_engine_without_a_cube(players: dict[str, Any]) -> None:
    turns = sample_turns(100, seed=2)
    values = 3.0 * child_values(turns, GnubgEngine(0)).values
    chosen = values[turns.offsets[:-1] + players["gnubg"].choose(turns)]
    lost = np.maximum.reduceat(values, turns.offsets[:-1]) - chosen
    assert (lost < 1e-6).mean() > 0.94
    assert lost.max() < 0.03  # its weights here differ a little from the engine's


@needs_program
def test_the_answers_do_not_depend_on_the_number_of_programs(players: dict[str, Any]) -> None:
    turns = under(sample_turns(15, seed=5), mixed(15, CubeRules(True, True)))
    player = GnubgCliPlayer(programs=1)
    assert np.array_equal(player.choose(turns), players["gnubg"].choose(turns))
    assert np.array_equal(player.take(turns.boards, turns.cubes), players["gnubg"].take(turns.boards, turns.cubes))


@pytest.mark.parametrize("level", ["1P", "2P", pytest.param("3P", marks=pytest.mark.slow)])
def test_sage_answers_as_its_analyzer_does(level: str) -> None:
    """Money under two sets of rules and a match; one position at a time, through Sage's own front end."""
    count = {"1P": 15, "2P": 3, "3P": 3}[level]
    analyzer = bgsage.create_analyzer(f"{level[0]}ply", cubeful=True, parallel_threads=1)
    player, base = SagePlayer(level), sample_turns(count, seed=7)
    boards = to_board26(base.boards).tolist()
    for cube in (mixed(count, CubeRules()), mixed(count, CubeRules(jacoby=True, beavers=True)), match_cubes(count, 4, 2)):
        chosen = base.offsets[:-1] + player.choose(under(base, cube))
        doubles, takes, rules = player.double(base.boards, cube), player.take(base.boards, cube), cube.rules or CubeRules()
        score = {} if cube.away is None else {"away1": 4, "away2": 2}
        for i in range(count):
            state: dict[str, Any] = {"cube_value": int(cube.value[i]), "cube_owner": NAMES[int(cube.owner[i])], **score}
            state |= {"jacoby": rules.jacoby, "beaver": rules.beavers}
            if base.offsets[i + 1] - base.offsets[i] > 1:
                best = analyzer.checker_play(boards[i], *base.dice[i].tolist(), **state).moves[0]
                assert list(best.board) == to_board26(base.children[chosen[i]][None, ::-1])[0].tolist()
            if cube.may_double()[i]:
                action = analyzer.cube_action(boards[i], **state)
                assert (doubles[i], takes[i]) == (action.should_double, action.should_take or action.is_beaver)


def test_sage_settings() -> None:
    player = pickle.loads(pickle.dumps(SagePlayer("2P", name="mine")))
    assert (player.level, player.name, SagePlayer().name) == ("2P", "mine", "sage1_cube")
    for level in ("4P", "1", 1):
        with pytest.raises(RaccoonError, match=r"player\.level=.*1P, 2P, 3P"):
            SagePlayer(level)  # type: ignore[arg-type]


@needs_program
def test_games_with_a_cube_between_them(players: dict[str, Any]) -> None:
    result = play_games((players["sage"], players["gnubg"]), range(3), seed=3, cube=CubeRules(jacoby=True, beavers=True))
    assert not result.capped.any()
    assert (result.points != 0).all()
    assert players["gnubg"].restarts_used == 0

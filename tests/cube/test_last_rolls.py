"""The last rolls of a race are played by the exact cubeful table: by every player with the model, at the root and in the tree."""

from __future__ import annotations

import numpy as np
import pytest

from raccoon.cli.program.composing import compose
from raccoon.config.instantiate import build, plain
from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes, RaccoonError
from raccoon.cube import exact_bearoff, match_equity
from raccoon.cube.exact_bearoff import LAST_ROLLS, CubefulBearoff, last_rolls
from raccoon.cube.exact_bearoff_tables import cubeful, members
from raccoon.cube.model import Janowski
from raccoon.engine.base import EngineBase
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates
from raccoon.env.position_ids import from_position_id
from raccoon.play.player import EnginePlayer
from raccoon.search.cubeful import CubefulTree
from raccoon.search.expectimax import Expectimax
from raccoon.search.lookahead import StaticSearch
from raccoon.search.tree import Tree

# exact no double and double/take at the present cube, from published tables and GNU Backgammon's two-sided one
CASES = [
    ("AQAAiAAAAAAAAA", CENTRED, 0.056, 0.111, True, True),
    ("PwAAgB8AAAAAAA", CENTRED, 0.768, 1.151, True, False),
    ("/wMAAPgfAAAAAA", OWNED, 0.753, 0.727, False, True),
    ("dwEAAO8BAAAAAA", CENTRED, 0.755, 0.878, True, True),
]


def one(owner: int, rules: CubeRules | None = None) -> Cubes:
    return Cubes(np.array([1 if owner == CENTRED else 2], np.int32), np.array([owner], np.int8), rules or CubeRules())


def side(*points: int) -> np.ndarray:
    return np.pad(np.array(points, np.int8), (0, 25 - len(points)))


class Wrong(EngineBase):
    """An engine that knows nothing."""

    def _probs6(self, live: Boards) -> np.ndarray:
        return np.tile([0.4, 0.2, 0.0, 0.2, 0.1, 0.1], (len(live), 1))


@pytest.fixture(
    scope="module", params=["player=default", "player=default search=expectimax", "player=default engine@player.engine=composite"]
)
def player(request: pytest.FixtureRequest) -> EnginePlayer:
    return build(plain(compose("evaluate", request.param.split()).player), "player", EnginePlayer)


@pytest.mark.parametrize(("position", "owner", "nd", "dt", "double", "take"), CASES)
def test_players_know_the_last_rolls(
    player: EnginePlayer, position: str, owner: int, nd: float, dt: float, double: bool, take: bool
) -> None:
    boards = from_position_id(position)[None]
    found = player._equities(boards, one(owner))
    assert (found.nd[0], found.dt[0], found.dp[0]) == pytest.approx((nd, dt, 1.0), abs=6e-4)
    assert player.double(boards, one(owner)).tolist() == [double]
    assert player.take(boards, one(owner)).tolist() == [take]


def test_no_opinion_of_an_engine_and_no_shortlist_comes_between() -> None:
    boards, engine = np.stack([from_position_id(case[0]) for case in CASES]), Wrong("wrong")
    exact, cubes = CubefulBearoff(*LAST_ROLLS), Cubes.centred(len(CASES), CubeRules())
    for search in (StaticSearch(), Expectimax(1), Expectimax(2, prune=RandomEngine(2), shortlist=1)):
        for found, wanted in zip(search.cube_equities(boards, cubes, engine, Janowski()), exact.equities(boards, cubes), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_one_ply_above_the_table_is_exact_too() -> None:
    """One roll leads into the table, which stands at the leaves."""
    board = np.stack([side(5, 3, 1), side(2, 2, 2, 1, 1)])  # 14 pips; on roll: 8 checkers, 21 pips
    exact, tree = CubefulBearoff(*LAST_ROLLS), CubefulTree(Tree(Wrong("wrong")), Janowski())
    found = tree.no_double(board[None], 1, Cubes.centred(1, CubeRules()))[0]
    assert not exact.knows(board[None])[0]
    for owner, equity in zip((CENTRED, OWNED, OPPONENT), found, strict=True):
        total = 0.0
        for dice, p in zip(ROLLS, ROLL_PROBS, strict=True):
            children = afterstates(board[None], dice[None])[0]
            total += p * max(-float(exact.optimal(child[None], one(-owner))[0]) for child in children)
        assert equity == pytest.approx(total, abs=1e-9)


def test_tables_by_pips_are_closed_and_agree_with_those_by_checkers() -> None:
    numbers = members(2, 6)
    assert len(members(2)) < len(numbers) < len(members(6))
    np.testing.assert_array_equal(cubeful(2, 6), exact_bearoff._table(6)[np.ix_(numbers, numbers)])


def test_fourteen_checkers_at_most_because_of_gammons() -> None:
    exact = CubefulBearoff(*LAST_ROLLS)
    boards = np.stack([np.stack([side(3), side(n)]) for n in (13, 14, 15)])
    assert exact.knows(boards).tolist() == [True, True, False]
    with pytest.raises(RaccoonError, match=r"at most 6 checkers a side .or at most 18 pips to go and 14 checkers., all at home"):
        exact.equities(boards, Cubes.centred(3, CubeRules()))
    for wrong in (-1, 25, True, 1.5):
        with pytest.raises(RaccoonError, match=r"pips=.*takes 0 to 24"):
            CubefulBearoff(6, wrong)  # pyright: ignore[reportArgumentType]


def test_at_match_scores_the_chances_are_exact() -> None:
    boards = np.stack([from_position_id(case[0]) for case in CASES])
    at = Cubes(np.ones(4, np.int32), np.zeros(4, np.int8), CubeRules(), np.tile(np.array([[4, 5]], np.int16), (4, 1)), np.zeros(4, bool))
    p = (1 + CubefulBearoff(*LAST_ROLLS).cubeless(boards)) / 2
    wrong = np.tile([0.3, 0.2, 0.0, 0.3, 0.2, 0.0], (4, 1))
    wanted = match_equity.equities(np.pad(p[:, None], ((0, 0), (0, 4))), 0.6, at)
    for found, equity in zip(Janowski().equities(wrong, boards, at), wanted, strict=True):
        np.testing.assert_allclose(found, equity, atol=1e-12)
    np.testing.assert_allclose(Janowski().no_double(wrong, boards, at), wanted.nd, atol=1e-12)


def test_the_table_is_left_alone_until_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr(exact_bearoff, "_table", refuse)
    race = np.stack([side(0, 0, 0, 2, 6, 5, 2), side(0, 0, 0, 2, 6, 5, 2)])
    assert last_rolls(np.stack([START, race])) is None
    with pytest.raises(AssertionError, match="read"):
        last_rolls(from_position_id(CASES[0][0])[None])


def test_the_plain_formula_is_an_option() -> None:
    boards, six = from_position_id(CASES[0][0])[None], np.array([[0.5278, 0, 0, 0.4722, 0, 0]])
    plainly, exact = Janowski(bearoff=False), Janowski()
    assert not plainly.exact(boards).any()
    assert exact.exact(np.concatenate([boards, START[None]])).tolist() == [True, False]
    assert abs(plainly.equities(six, boards, one(CENTRED)).nd[0] - 0.0556) > 1e-3
    assert (plainly.suffix, exact.suffix) == ("+nobearoff", "")
    for name in ("dead", "live"):
        assert compose("evaluate", [f"cube={name}"]).cube.bearoff is False
    with pytest.raises(RaccoonError, match=r"cube\.bearoff=1"):
        Janowski(bearoff=1)  # pyright: ignore[reportArgumentType]


def test_chances_of_the_last_rolls_are_exact_and_the_rest_stay() -> None:
    boards = np.stack([np.stack([side(1), side(0, 0, 0, 0, 0, 1)]), START])  # a six, or two pips and more on both dice: 27 of 36
    given = np.full((2, 6), 1 / 6)
    np.testing.assert_allclose(Janowski().chances(given, boards), [[0.75, 0, 0, 0.25, 0, 0], [1 / 6] * 6], atol=1e-6)
    np.testing.assert_array_equal(Janowski(bearoff=False).chances(given, boards), given)


def test_the_least_position_is_in_the_table_and_a_finished_one_is_not() -> None:
    boards = np.stack([np.stack([side(1), side(1)]), np.stack([side(0), side(1)]), START])
    assert CubefulBearoff(2).knows(boards).tolist() == [True, False, False]

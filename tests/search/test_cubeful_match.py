"""Cubeful search at match scores: an exact race worked out here, Open Sage's own tree, a naive recursion, money play far from the end."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from raccoon.contracts import CENTRED, OPPONENT, OWNED, Boards, CubeRules, Cubes
from raccoon.cube import match_equity, match_equity_table
from raccoon.cube.janowski import CubeEquities
from raccoon.cube.model import Janowski, best_of
from raccoon.engine.composite import CompositeEngine
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.net import NetEngine
from raccoon.engine.sage import SageEngine, sage_module, sage_strategy
from raccoon.env.board import is_race, pips, terminal_points
from raccoon.env.formats.board26 import to_board26
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates, afterstates_all_rolls
from raccoon.env.position_ids import from_position_id
from raccoon.search.analysis.questions import read_question
from raccoon.search.cubeful import CubefulTree
from raccoon.search.expectimax import Expectimax
from raccoon.search.tree import Tree
from raccoon.testing.subjects import sample_turns

ME, OTHER = 0, 1
LAST_ROLLS = from_position_id("kQcAgEoDAAAAAA")


@pytest.fixture(scope="module")
def net() -> NetEngine:
    return NetEngine.load("default")


def match(n: int, away: tuple[int, int], value: int = 1, owner: int = CENTRED, crawford: bool = False, cap: int = 1024) -> Cubes:
    scores = np.tile(np.array([away], np.int16), (n, 1))
    return Cubes(np.full(n, value, np.int32), np.full(n, owner, np.int8), CubeRules(cap=cap), scores, np.full(n, crawford))


def normalised(equities: CubeEquities, at: Cubes) -> list[float]:
    """No double and double/take of one row, where a plain win at the present cube is 1 and a loss -1."""
    won, lost = match_equity.after(at.value, at), match_equity.after(-at.value, at)
    return [float(2 * (equity[0] - lost[0]) / (won[0] - lost[0]) - 1) for equity in equities[:2]]


class Race:
    """A race without gammons played out at a match score: the chance of ``ME`` to win the match, both playing and doubling perfectly.

    A plain recursion over the pips that are left and the places of the cube: ``(value, seat that has it)``. Nothing of the
    searching code is used but the rules of the board and the match equity table.
    """

    def __init__(self, board: np.ndarray, away: tuple[int, int]) -> None:
        self.away = away
        self.sides = [self.reached(board[1]), self.reached(board[0])]
        self.waiting = cache(self._waiting)

    @staticmethod
    def reached(side: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """All that the side can come to, fewest pips first: of each the results of the 21 rolls one after the other, and their starts."""
        found = {tuple(side): 0}
        results: dict[tuple[int, ...], list[list[tuple[int, ...]]]] = {}
        queue = [tuple(side)]
        for one in queue:
            if not any(one):
                continue
            board = np.zeros((1, 2, 25), np.int8)
            board[0, 1], board[0, 0, 0] = one, 1
            children, offsets = afterstates_all_rolls(board)
            rows = [tuple(child[0].tolist()) for child in children]
            results[one] = [rows[offsets[roll] : offsets[roll + 1]] for roll in range(len(ROLLS))]
            queue += [row for row in dict.fromkeys(rows) if found.setdefault(row, len(found)) == len(found) - 1 and row not in results]
        order = sorted(found, key=lambda one: sum((i + 1) * n for i, n in enumerate(one)))
        place = {one: i for i, one in enumerate(order)}
        out = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for one in order[1:]:
            rolls = results[one]
            starts = np.cumsum([0, *map(len, rolls)])[:-1]
            out.append((np.array([place[row] for roll in rolls for row in roll]), starts))
        return out

    def won(self, points: int) -> float:
        """The chance of ``ME`` after winning so many points (negative: the other has)."""
        return float(match_equity_table.equity([self.away[ME] - max(points, 0), self.away[OTHER] + min(points, 0)], 1 in self.away))

    def _waiting(self, value: int, holder: int) -> np.ndarray:
        """``[seat on roll, mine, other's]``: the chance of ``ME`` when who is on roll does not double now."""
        sides, end = self.sides, self.won(value)
        shape = (len(sides[ME]), len(sides[OTHER]))
        table, used = np.zeros((2, *shape)), np.zeros((2, *shape))  # used: after the cube decision of who is on roll
        table[:, 0, :] = used[:, 0, :] = end
        table[:, 1:, 0] = used[:, 1:, 0] = self.won(-value)
        ends = np.cumsum([0, *(len(results) for results, _ in sides[OTHER])])
        replies = np.concatenate([results for results, _ in sides[OTHER][1:]])
        firsts = np.concatenate([starts + end for (_, starts), end in zip(sides[OTHER], ends, strict=False)])
        for mine in range(1, shape[0]):
            results, starts = sides[ME][mine]
            best = np.maximum.reduceat(used[OTHER][results, 1:], starts, axis=0)
            table[ME, mine, 1:] = ROLL_PROBS @ best
            used[ME, mine] = self.doubled(ME, mine, table, value, holder)
            least = np.minimum.reduceat(used[ME, mine][replies], firsts).reshape(-1, len(ROLLS))
            table[OTHER, mine, 1:] = least @ ROLL_PROBS
            used[OTHER, mine] = self.doubled(OTHER, mine, table, value, holder)
        return table

    def doubled(self, seat: int, mine: int, table: np.ndarray, value: int, holder: int) -> np.ndarray:
        now = table[seat, mine]
        if holder != seat or value >= self.away[seat]:
            return now
        taken, passed = self.waiting(2 * value, 1 - seat)[seat, mine], self.won(value if seat == ME else -value)
        return np.maximum(now, np.minimum(taken, passed)) if seat == ME else np.minimum(now, np.maximum(taken, passed))

    def equities(self, value: int, holder: int) -> tuple[float, float, float]:
        """No double, double/take, double/pass at the root, ``ME`` on roll."""
        return float(self.waiting(value, holder)[ME, -1, -1]), float(self.waiting(2 * value, OTHER)[ME, -1, -1]), self.won(value)


def test_an_owned_cube_at_the_end_of_a_race(net: NetEngine) -> None:
    exact = Race(LAST_ROLLS, (3, 6)).equities(2, ME)
    assert exact[1:] == pytest.approx((0.8777, 0.8873), abs=5e-5)
    at, engine = match(1, (3, 6), 2, OWNED), CompositeEngine(BearoffEngine(6), net)

    def found(ply: int) -> list[float]:
        return [0.5 + 0.5 * float(one[0]) for one in Expectimax(ply).cube_equities(LAST_ROLLS[None], at, engine, Janowski())]

    static = found(0)
    assert static[1] == pytest.approx(0.8973, abs=1e-4)  # the closed form lets the doubled cube be live for ever: a wrong pass
    for ply in (1, 2):
        now, taken, passed = found(ply)
        assert now < taken < passed
        assert taken == pytest.approx(exact[1], abs=2e-4)
        assert passed == pytest.approx(exact[2], abs=1e-12)
        assert abs(now - exact[0]) < abs(static[0] - exact[0]) + 1e-3


@pytest.mark.parametrize("away", [(2, 2), (3, 4), (5, 2), (4, 1), (9, 7)])
@pytest.mark.parametrize("board", [((0, 1, 0, 1), (1, 1)), ((2, 0, 1), (3,)), ((3,), (4,))])
def test_exact_when_the_tree_reaches_the_end(away: tuple[int, int], board: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    boards = np.zeros((1, 2, 25), np.int8)
    for slot, side in ((1, board[0]), (0, board[1])):
        boards[0, slot, : len(side)] = side
    tree, race = CubefulTree(Tree(BearoffEngine(4), "full", 20), Janowski(0.3, 0.3)), Race(boards[0], away)
    for value in (1, 2, 4):
        for holder, owner in ((ME, OWNED), (OTHER, OPPONENT)):
            found = tree.equities(boards, match(1, away, value, owner), 3)
            expected = race.equities(value, holder)
            assert [0.5 + 0.5 * float(one[0]) for one in found] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("xgid", "sage", "answer"),
    [
        ("XGID=-b--BBCBB---cB---c-dba--B-:0:0:1:00:9:8:0:11:10", (0.813, 0.665), "no double"),
        ("XGID=aa--BBD-C---eB---c-e----B-:0:0:1:00:5:4:0:7:10", (1.039, 0.887), "take"),
    ],
)
def test_three_away_against_two(net: NetEngine, xgid: str, sage: tuple[float, float], answer: str) -> None:
    """Doubling hands a dead cube to who needs two: Sage's 3P is quoted. No lookahead does not see that the cube dies."""
    question = read_question(xgid)
    for ply in (0, 1, 2):
        for engine in (net, SageEngine("1P")):
            found = Expectimax(ply).cube_equities(question.position.board[None], question.cubes, engine, Janowski())
            now, taken = normalised(found, question.cubes)
            right = min(taken, 1.0) <= now if answer == "no double" else taken < 1.0
            assert right == (ply > 0)
        if ply == 2:  # over Sage's own network
            assert (now, taken) == pytest.approx(sage, abs=0.01)


def test_one_ply_is_open_sages_own() -> None:
    """Sage's replies are now and then not those that are best at the score; then its equity of the roller is lower."""
    boards = sample_turns(60).boards
    boards = boards[~is_race(boards) & (pips(boards).min(axis=1) > 60)][:8]  # where Sage's index is ours
    sage, tree = sage_module(), CubefulTree(Tree(SageEngine("1P")), Janowski())
    strategy, _table = sage_strategy(sage, 1)
    names, more = {CENTRED: "CENTERED", OWNED: "PLAYER", OPPONENT: "OPPONENT"}, []
    for away, value, owner, crawford in (((2, 3), 1, 0, False), ((4, 3), 2, 1, False), ((5, 7), 2, -1, False), ((1, 4), 1, 0, True)):
        at = match(len(boards), away, value, owner, crawford)
        assert at.away is not None
        ours = tree.optimal(boards, at, 1)
        settings = {"n_plies": 2, "filter_max_moves": 50, "filter_threshold": 5.0, "jacoby": False, "beaver": False}
        score = {"cube_value": value, "away1": away[0], "away2": away[1], "is_crawford": crawford}
        for board, found in zip(to_board26(boards).tolist(), ours, strict=True):
            theirs = sage.cubeful_equity_nply(board, getattr(sage.CubeOwner, names[owner]), strategy, **settings, **score)
            more.append(found - (2 * sage.eq2mwc(theirs, *away, value, crawford) - 1))
    assert min(more) > -1e-5
    assert max(more) < 2e-3
    assert (np.array(more) < 1e-5).mean() > 0.8


def naive(board: Boards, at: Cubes, depth: int, engine: GnubgEngine, model: Janowski) -> float:
    """No-double equity of one board: every roll, every play, every cube by itself; a reply is chosen by static value."""
    if depth == 0:
        return float(model.no_double(np.asarray(engine.probs6(board[None]), np.float64), board[None], at)[0])

    def optimal(child: Boards, cubes: Cubes, plies: int) -> float:
        points = float(terminal_points(child[None])[0])
        if points:
            return float(model.finished(np.array([points]), cubes)[0])
        now = naive(child, cubes, plies, engine, model)
        if not cubes.may_double()[0]:
            return now
        doubled = Cubes(2 * cubes.value, np.array([OPPONENT], np.int8), cubes.rules, cubes.away, cubes.crawford)
        return max(now, min(naive(child, doubled, plies, engine, model), float(model.finished(np.ones(1), cubes)[0])))

    total = 0.0
    for dice, p in zip(ROLLS, ROLL_PROBS, strict=True):
        children, _ = afterstates(board[None], dice[None])
        best = children[int(np.argmax([-optimal(child, at.flipped(), 0) for child in children]))]
        total += p * -optimal(best, at.flipped(), depth - 1)
    return total


def test_equal_to_a_naive_recursion_and_independent_of_the_other_rows() -> None:
    ending = np.zeros((2, 25), np.int8)
    ending[1, [0, 1]], ending[0, [0, 5]] = 2, 1
    engine, model = GnubgEngine(0), Janowski()
    tree = CubefulTree(Tree(engine), model)
    rows = [match(1, (2, 5)), match(1, (4, 3), 2, OWNED), match(1, (9, 8), 4, OPPONENT), match(1, (3, 1), crawford=True), match(1, (2, 5))]
    rows += [match(1, (9, 8), cap=1), match(1, (9, 8), 2, OWNED, cap=4)]
    together = tree.equities(np.repeat(ending[None], 5, axis=0), Cubes.joined(rows[:5]), 1).nd
    capped = [float(tree.equities(ending[None], row, 1).nd[0]) for row in rows[5:]]
    np.testing.assert_allclose([*together, *capped], [naive(ending, row, 1, engine, model) for row in rows], atol=1e-9)
    for row in (rows[0], rows[6]):
        assert tree.equities(ending[None], row, 2).nd[0] == pytest.approx(naive(ending, row, 2, engine, model), abs=1e-9)
    # contact, and a board that two rows with different scores share
    board = sample_turns(30).boards[7]
    pair = tree.equities(np.stack([board, board]), Cubes.joined([match(1, (3, 5)), match(1, (9, 2))]), 1).nd
    np.testing.assert_allclose(pair, [naive(board, match(1, away), 1, engine, model) for away in ((3, 5), (9, 2))], atol=1e-9)


def test_no_double_by_owner_is_that_of_the_equities() -> None:
    boards, tree = sample_turns(6).boards, CubefulTree(Tree(GnubgEngine(0)), Janowski())
    held = tree.no_double(boards, 1, match(6, (5, 4), 2))
    for column, owner in ((0, CENTRED), (1, OWNED), (2, OPPONENT)):
        np.testing.assert_allclose(held[:, column], tree.equities(boards, match(6, (5, 4), 2, owner), 1).nd, atol=1e-12)
    dead = tree.no_double(boards, 1, match(6, (2, 2), 4))
    np.testing.assert_allclose(dead, dead[:, :1].repeat(3, axis=1), atol=1e-9)  # of use to nobody


def test_far_from_the_end_decisions_are_those_of_money() -> None:
    boards, tree = sample_turns(40).boards, CubefulTree(Tree(GnubgEngine(0)), Janowski())
    at, money = match(40, (match_equity_table.LONGEST, match_equity_table.LONGEST)), Cubes.centred(40, CubeRules())
    won, lost = match_equity.after(at.value, at), match_equity.after(-at.value, at)
    nd, dt, dp = (2 * (equity - lost) / (won - lost) - 1 for equity in tree.equities(boards, at, 1))
    expected = tree.equities(boards, money, 1)
    np.testing.assert_allclose(dp, expected.dp, atol=1e-12)
    contested = np.abs(expected.nd) < 1
    assert np.abs(nd - expected.nd)[contested].max() < 0.05
    clear = contested & (np.abs(np.minimum(expected.dt, 1) - expected.nd) > 0.1) & (np.abs(expected.dt - 1) > 0.1)
    assert clear.sum() > 15
    np.testing.assert_array_equal((np.minimum(dt, dp) > nd)[clear], (np.minimum(expected.dt, 1) > expected.nd)[clear])
    np.testing.assert_array_equal((dt < dp)[clear], (expected.dt < 1)[clear])


def test_plays_at_a_match_score_are_ranked_by_the_tree() -> None:
    turns = sample_turns(4)
    at = Cubes.joined([match(1, (3, 2)), match(1, (2, 4), 2, OWNED), match(1, (5, 5)), match(1, (1, 3), crawford=True)])
    under = type(turns)(turns.boards, turns.dice, at, turns.children, turns.offsets)
    engine, model = GnubgEngine(0), Janowski()
    values, tree = 3 * Expectimax(1).cubeful(under, engine, model).values, CubefulTree(Tree(engine), model)
    for row in (0, 1, 3):  # the other play is forced
        child = int(turns.offsets[row])
        cubes = at.take(slice(row, row + 1)).flipped()
        found = tree.equities(turns.children[child][None], cubes, 1)
        assert values[child] == pytest.approx(-float(best_of(found, cubes.may_double())[0]), abs=1e-9)

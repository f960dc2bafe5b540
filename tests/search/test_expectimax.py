"""Expectimax against a naive reference, GNUBG's own plies and exact tables; one test for each known trap."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from raccoon.contracts import RaccoonError, Turns
from raccoon.engine.base import EngineBase
from raccoon.engine.exact_bearoff.engine import BearoffEngine
from raccoon.engine.gnubg import GnubgEngine
from raccoon.engine.net import NetEngine
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START, is_race, swap, terminal_points
from raccoon.env.encoder import Encoder, encode
from raccoon.env.movegen import ROLL_PROBS, ROLLS, afterstates, enumerate_turns
from raccoon.env.position_ids import from_position_id
from raccoon.model import MLP, Outcomes6, RaccoonNet
from raccoon.play import EnginePlayer, play_games
from raccoon.play.observers import Recorder
from raccoon.search import Expectimax, Filter, child_values, equities
from raccoon.search.filters import keep_best

GNUBG = GnubgEngine(0)
RANDOM = RandomEngine(5)
GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def boards():
    """Pre-roll boards of real games, of every class."""
    recorder = Recorder()
    play_games((EnginePlayer(GNUBG), EnginePlayer(RandomEngine(3))), np.arange(24), 4, observers=[recorder])
    return np.concatenate([record.boards for record in recorder.records()])


@pytest.fixture(scope="module")
def turns(boards):
    rng = np.random.default_rng(1)
    picked = boards[rng.choice(len(boards), 40, replace=False)]
    return enumerate_turns(picked, ROLLS[rng.integers(0, 21, 40)])


def naive(board, depth, engine, opponent="greedy", replies=4):
    """Points / 3 of one pre-roll board to the side on roll, one board at a time, straight from the definition."""
    points = int(terminal_points(board[None])[0])
    if points or depth == 0:
        return points / 3 if points else float(engine.value(board[None])[0])
    total = 0.0
    for roll, probability in zip(ROLLS, ROLL_PROBS, strict=True):
        children, _ = afterstates(board[None], roll[None])
        static = [-naive(child, 0, engine) for child in children]
        order = sorted(range(len(children)), key=lambda index: (-static[index], index))
        looked = order[:1] if opponent == "greedy" else order[:replies]
        total += probability * max(-naive(children[index], depth - 1, engine) for index in looked)
    return total


@pytest.mark.parametrize("engine", [GNUBG, RANDOM], ids=["gnubg", "random"])
@pytest.mark.parametrize(("ply", "opponent"), [(1, "greedy"), (2, "greedy"), (2, "full")])
def test_equal_to_a_naive_search(turns, engine, ply, opponent):
    rows = slice(0, 12) if ply == 1 else slice(0, 1)
    choices = np.diff(turns.offsets) > 1  # a forced play is not searched
    few = enumerate_turns(turns.boards[choices][rows], turns.dice[choices][rows])
    if ply == 2:
        few = Turns(few.boards, few.dice, few.cubes, few.children[:2], np.array([0, 2]))
    result = Expectimax(ply, Filter("none"), opponent=opponent, replies=3).values(few, engine)
    assert result.full.all()
    expected = [-naive(child, ply, engine, opponent, 3) for child in few.children]
    np.testing.assert_allclose(result.values, expected, atol=1e-9, rtol=0)


def classes(boards):
    """Rows of each kind of position."""
    mine, other = boards[:, 1].astype(int), boards[:, 0].astype(int)
    race = is_race(boards)
    return {
        "bar": (mine[:, 24] > 0) | (other[:, 24] > 0),
        "bear-off": race & (mine[:, 6:].sum(axis=1) == 0),
        "race": race,
        "backgame": ~race & ((mine[:, 18:24] >= 2).sum(axis=1) >= 2),
        "contact": ~race,
    }


def some(boards, count):
    """``count`` boards, each class having its share."""
    rng = np.random.default_rng(7)
    groups = classes(boards)
    picked = [boards[rng.permutation(np.flatnonzero(mask))[: count // len(groups)]] for mask in groups.values()]
    assert all(len(part) == count // len(groups) for part in picked)
    return np.concatenate(picked)


def tie_spread(board):
    """How far the 2-ply points of a board can move by another choice among the replies of the highest static value."""
    spread = 0.0
    for roll, probability in zip(ROLLS, ROLL_PROBS, strict=True):
        children, _ = afterstates(board[None], roll[None])
        static = -GNUBG.points(children)
        deep = equities(children[static == static.max()], 1, GNUBG)
        spread += probability * (deep.max() - deep.min())
    return spread


@pytest.mark.parametrize(
    ("ply", "count"), [(1, 50), pytest.param(1, 300, marks=pytest.mark.slow), pytest.param(2, 30, marks=pytest.mark.slow)]
)
def test_gnubgs_own_plies_are_reproduced(boards, ply, count):
    sample = some(boards, count)
    difference = np.abs(equities(sample, ply, GNUBG) - GnubgEngine(ply).points(sample))
    # replies of exactly the same static value are a matter of taste: GNUBG breaks such ties by its own order of moves
    for row in np.flatnonzero(difference > 1e-6):
        assert ply == 2
        assert difference[row] <= 1e-6 + tie_spread(sample[row])
    assert (difference > 1e-6).sum() <= count / 10


def test_depth_0_is_child_values_bit_for_bit(turns):
    one, other = Expectimax(0, Filter("none")).values(turns, GNUBG), child_values(turns, GNUBG)
    assert (one.values == other.values).all()
    assert (one.full == other.full).all()
    assert one.evaluations == other.evaluations


def test_two_ply_is_one_ply_over_one_ply_for_a_last_roll():
    # a roll away from the end on both sides: whatever the depth, the dice decide
    board = np.zeros((1, 2, 25), np.int8)
    board[0, :, 0] = 2
    exact = BearoffEngine(2).points(board)
    for depth in (1, 2, 3):
        np.testing.assert_allclose(equities(board, depth, GNUBG), exact, atol=1e-6)


def test_batches_order_and_repetition_change_nothing(turns):
    def run(some_turns, batch):
        return Expectimax(2, Filter("value", 3, 0.2), batch=batch).values(some_turns, RANDOM)

    rows = np.arange(12)
    few = enumerate_turns(turns.boards[rows], turns.dice[rows])
    first = run(few, 65536)
    for batch in (1, 3000):
        other = run(few, batch)
        assert (other.values == first.values).all()
        assert (other.full == first.full).all()
    order = rows[::-1]
    backwards = run(enumerate_turns(turns.boards[order], turns.dice[order]), 5000)
    for row in rows:
        mine = slice(few.offsets[row], few.offsets[row + 1])
        back = enumerate_turns(turns.boards[order], turns.dice[order]).offsets
        theirs = slice(back[11 - row], back[12 - row])
        assert (first.values[mine] == backwards.values[theirs]).all()
    alone = run(enumerate_turns(turns.boards[:1], turns.dice[:1]), 65536)
    assert (alone.values == first.values[: len(alone.values)]).all()


def test_100_reruns_are_identical(turns):
    few = enumerate_turns(turns.boards[:3], turns.dice[:3])
    search = Expectimax(1, Filter("value", 4))
    first = search.values(few, GNUBG).values.tobytes()
    assert all(search.values(few, GNUBG).values.tobytes() == first for _ in range(100))


def test_golden_trees():
    golden = json.loads((GOLDEN / "expectimax.json").read_text())
    for case in golden:
        board = from_position_id(case["id"])
        found = equities(board[None], case["ply"], RandomEngine(case["seed"]))[0]
        assert abs(found - case["points"]) < 1e-9


# Traps


class Constant(EngineBase):
    """Every unfinished board is worth ``level`` / 3 to the side on roll."""

    has_probs = False

    def __init__(self, level):
        super().__init__("constant")
        self.level = level

    def _value(self, live):
        return np.full(len(live), self.level / 3)


def test_only_candidates_of_one_depth_are_compared(turns):
    for search in (Expectimax(1, Filter("value", 2)), Expectimax(2, Filter("value", 4), levels=[2])):
        few = enumerate_turns(turns.boards[:6], turns.dice[:6])
        result = search.values(few, RANDOM)
        deep = -equities(few.children, search.ply, RANDOM) / 3
        static = child_values(few, RANDOM).values
        counts = np.diff(few.offsets)
        kept = np.add.reduceat(result.full.astype(int), few.offsets[:-1])
        assert (kept == np.minimum(counts, 2)).all()
        searched = np.repeat(counts > 1, counts)
        np.testing.assert_allclose(result.values[result.full & searched], deep[result.full & searched], atol=1e-12)
        assert (result.values[~searched] == static[~searched]).all()
        # the player never takes a static value for a searched one, whatever it says
        chosen = EnginePlayer(RANDOM, search).choose(few)
        assert result.full[few.offsets[:-1] + chosen].all()


def test_finished_leaves_have_the_movers_sign():
    # the side to move bears off its last checker with every roll: a win now beats whatever the engine says of going on
    board = np.zeros((1, 2, 25), np.int8)
    board[0, 1, 0], board[0, 0, 5] = 1, 14
    for level in (-3, 3):
        assert equities(board, 1, Constant(level))[0] == pytest.approx(1.0)
        assert equities(board, 2, Constant(level))[0] == pytest.approx(1.0)
    # and when the opponent is the one who does, it is a loss at depth 2 and the end is not looked below
    other = np.zeros((1, 2, 25), np.int8)
    other[0, 0, 0], other[0, 1, 5], other[0, 1, 22] = 1, 8, 7
    assert equities(other, 2, Constant(0))[0] == pytest.approx(-3.0)  # a checker of the loser is in its home: a backgammon
    turns = enumerate_turns(board, np.array([[2, 1]]))
    result = Expectimax(2).values(turns, Constant(3))
    assert result.values.tolist() == [1 / 3]
    assert result.evaluations == 0


def test_a_dance_passes_the_turn_and_nothing_else():
    board = START.copy()
    board[1, 24], board[1, 23], board[1, 16] = 1, 0, 1  # on the bar against a closed board
    board[0] = 0
    board[0, :6], board[0, 12] = 2, 3
    turns = enumerate_turns(board[None], np.array([[6, 5]]))
    assert (turns.children == swap(board[None])).all()
    assert equities(board[None], 1, GNUBG)[0] == pytest.approx(-GNUBG.points(swap(board[None]))[0], abs=1e-6)
    assert equities(board[None], 2, GNUBG)[0] == pytest.approx(-equities(swap(board[None]), 1, GNUBG)[0], abs=1e-6)


class Reader(EngineBase):
    """Remembers every board it is asked about."""

    has_probs = False

    def __init__(self):
        super().__init__("reader")
        self.seen = []

    def _value(self, live):
        self.seen.append(live.copy())
        return RANDOM.value(live)


def test_no_half_played_double_is_ever_valued():
    start = enumerate_turns(START[None], np.array([[3, 3]]))
    reader = Reader()
    Expectimax(1, Filter("value", 2)).values(start, reader)
    whole = {child.tobytes() for child in start.children}
    roots = reader.seen[0]
    assert {board.tobytes() for board in roots} == whole
    best, _ = keep_best(child_values(start, RANDOM).values, start.offsets, 2)
    replies = {
        child.tobytes() for board in start.children[best] for child in np.concatenate([afterstates(board[None], r[None])[0] for r in ROLLS])
    }
    assert {board.tobytes() for board in np.concatenate(reader.seen[1:])} <= replies


def test_boards_are_evaluated_once_a_search(turns):
    reader = Reader()
    few = enumerate_turns(turns.boards[:1], turns.dice[:1])
    Expectimax(2, Filter("value", 3)).values(few, reader)
    assert len(reader.seen) == 3  # one batch a level
    for batch in reader.seen:
        assert len(np.unique(batch.reshape(len(batch), 50), axis=0)) == len(batch)


def test_the_gate_is_in_points(turns):
    static = child_values(turns, RANDOM).values
    for gate in (0.02, 0.1, 0.5):
        result = Expectimax(1, Filter("value", 4), gate=gate).values(turns, RANDOM)
        for row, (start, stop) in enumerate(zip(turns.offsets[:-1], turns.offsets[1:], strict=True)):
            best = np.sort(static[start:stop])[::-1]
            searched = stop - start > 1 and 3 * (best[0] - best[1]) <= gate
            assert (result.values[start:stop] != static[start:stop]).any() == searched, row


def test_thresholds_are_in_points(turns):
    values, keep = Filter("value", 100, 0.3).apply(turns, RANDOM)
    best = np.repeat(np.maximum.reduceat(values, turns.offsets[:-1]), np.diff(turns.offsets))
    assert (keep == (3 * (best - values) <= 0.3)).all()
    assert 0 < keep.sum() < len(keep)


def test_a_pruning_engine_shortlists_for_the_other():
    turns = enumerate_turns(START[None], np.array([[3, 1]]))
    plain, pruned = Reader(), Reader()
    whole = Expectimax(1, Filter("value", 4)).values(turns, plain)
    # shortlisting by the engine itself loses nothing
    same = Expectimax(1, Filter("value", 4), prune=RANDOM, shortlist=1).values(turns, pruned)
    np.testing.assert_array_equal(whole.values, same.values)
    assert sum(map(len, pruned.seen)) < sum(map(len, plain.seen)) / 4
    at_root = Expectimax(0, Filter("prune", 4, engine=RANDOM)).values(turns, GNUBG)
    assert at_root.full.sum() == 4


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"ply": 4}, "search.ply"),
        ({"ply": -1}, "search.ply"),
        ({"ply": True}, "search.ply"),
        ({"opponent": "kind"}, "search.opponent"),
        ({"gate": -0.1}, "search.gate"),
        ({"bump": True}, "search.bump"),
        ({"bump": 0.1, "filter": Filter("prune", engine=RANDOM)}, "search.bump"),
        ({"replies": 0}, "search.replies"),
        ({"levels": [3]}, "search.levels"),
        ({"ply": 2, "levels": [0]}, r"search.levels\[0\]"),
        ({"batch": 0}, "search.batch"),
        ({"filter": "value"}, "search.filter"),
    ],
)
def test_bad_settings_are_named(settings, key):
    with pytest.raises(RaccoonError, match=key):
        Expectimax(**settings)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"source": "all"}, "search.filter.source"),
        ({"source": "value", "k": 0}, "search.filter.k"),
        ({"source": "value", "threshold": -1}, "search.filter.threshold"),
        ({"source": "value", "contact_scale": 50}, "search.filter.contact_scale"),
        ({"source": "value", "threshold": 0.1, "contact_scale": 0}, "search.filter.contact_scale"),
        ({"source": "value", "threshold": 0.1, "effort": [[0, 0]]}, "search.filter.effort"),
        ({"source": "value", "threshold": 0.1, "effort": "ramp"}, "search.filter.effort"),
        ({"source": "value", "threshold": 0.1, "effort": [0, 80]}, "search.filter.effort"),
        ({"source": "value", "threshold": 0.1, "effort": [[0, 0], [80, 2]]}, r"search.filter.effort\[1\]\[1\]"),
        ({"source": "value", "threshold": 0.1, "effort": [[80, 0], [80, 1]]}, "search.filter.effort"),
        ({"source": "value", "effort": [[0, 0], [80, 1]]}, "search.filter.effort"),
        ({"source": "value", "threshold": 0.1, "contact_scale": 80, "effort": [[0, 0], [80, 1]]}, "search.filter.contact_scale"),
        ({"source": "value", "threshold": 0.1, "contact_scale": 80, "least_threshold": 0.2}, "search.filter.least_threshold"),
        ({"source": "value", "threshold": 0.1, "contact_scale": 80, "least_k": 9}, "search.filter.least_k"),
        ({"source": "value", "threshold": 0.1, "contact_scale": 80, "least_k": 0}, "search.filter.least_k"),
        ({"source": "value", "threshold": 0.1, "least_k": 2}, "search.filter.least_k"),
        ({"source": "value", "threshold": 0.1, "least_threshold": 0.02}, "search.filter.least_threshold"),
        ({"source": "prune"}, "search.filter.engine"),
        ({"source": "value", "engine": RANDOM}, "search.filter.engine"),
    ],
)
def test_bad_filters_are_named(settings, key):
    with pytest.raises(RaccoonError, match=key):
        Filter(**settings)


def test_a_policy_filter_needs_a_policy(turns):
    with pytest.raises(RaccoonError, match="no policy head"):
        Filter("policy").apply(turns, RANDOM)


def test_illegal_and_finished_boards(boards):
    bad = boards[:1].copy()
    bad[0, 0, 0] = 16
    with pytest.raises(RaccoonError):
        equities(bad, 1, GNUBG)
    over = np.zeros((1, 2, 25), np.int8)
    over[0, 1, 5] = 15
    assert equities(over, 2, GNUBG).tolist() == [-2.0]


def test_plies_say_what_was_searched(turns):
    result = Expectimax(2, Filter("value", 4), levels=[2]).values(enumerate_turns(turns.boards[:6], turns.dice[:6]), RANDOM)
    assert result.plies is not None
    assert set(result.plies[result.full]) <= {0, 2}
    assert (result.plies == 1).any()
    assert not result.full[result.plies == 1].any()


def test_a_window_scaled_by_contact(boards):
    sample = some(boards, 60)
    turns = enumerate_turns(sample, np.tile([[6, 4]], (len(sample), 1)))
    plain, scaled = Filter("value", 50, 0.3), Filter("value", 50, 0.3, contact_scale=60)
    values, wide = plain.apply(turns, GNUBG)
    _, narrow = scaled.apply(turns, GNUBG)
    contact = encode(sample, channels=[24, 25], normalize=False)[:, :, 0, 0].mean(axis=1)
    best = np.repeat(np.maximum.reduceat(values, turns.offsets[:-1]), np.diff(turns.offsets))
    width = np.repeat(0.3 * np.minimum(1, contact / 60), np.diff(turns.offsets))
    assert (narrow == (3 * (best - values) <= width)).all()
    race = np.repeat(is_race(sample), np.diff(turns.offsets))
    assert race.any()
    assert (values[race & narrow] == best[race & narrow]).all()
    assert narrow.sum() < wide.sum()


def test_a_bumped_leader_calls_for_more_candidates(turns):
    plain = Expectimax(1, Filter("value", 2)).values(turns, RANDOM)
    bumped = Expectimax(1, Filter("value", 2), bump=0.5).values(turns, RANDOM)
    static = child_values(turns, RANDOM).values
    more = 0
    for start, stop in zip(turns.offsets[:-1], turns.offsets[1:], strict=True):
        row = slice(start, stop)
        leader = int(np.argmax(static[row]))
        first = int(np.argmax(np.where(plain.full[row], plain.values[row], -9)))
        near = 3 * (static[row][leader] - static[row]) <= 0.5
        changed = stop - start > 1 and first != leader
        assert (bumped.full[row] == (plain.full[row] | (near & changed))).all()
        more += int(bumped.full[row].sum() - plain.full[row].sum())
    assert more > 0
    deep = bumped.full & ~plain.full
    np.testing.assert_allclose(bumped.values[deep], -equities(turns.children[deep], 1, RANDOM) / 3, atol=1e-9)


def test_a_cache_changes_nothing(turns):
    net = RaccoonNet(Encoder(), partial(MLP, hidden=[64, 32]), Outcomes6, seed=3).eval()
    search = Expectimax(1, Filter("value", 4))
    few = Turns(turns.boards[:4], turns.dice[:4], turns.cubes.take(slice(0, 4)), turns.children[: turns.offsets[4]], turns.offsets[:5])
    plain = NetEngine(net, batch_size=256)
    expected = search.values(few, plain)
    for entries in (64, 1 << 16):  # one that forgets most boards, one that keeps nearly all
        cached = NetEngine(net, batch_size=256, cache=entries)
        for _ in range(2):  # empty, then filled by the same decisions
            found = search.values(few, cached)
            assert_array_equal(found.values, expected.values)
            assert_array_equal(found.full, expected.full)
    assert cached.rows < 1.2 * plain.rows  # the second time was read from the table


def test_three_plies_are_allowed_and_a_fourth_is_not() -> None:
    assert Expectimax(ply=3).ply == 3
    with pytest.raises(RaccoonError, match=r"search\.ply=4: give 0 to 3"):
        Expectimax(ply=4)

"""Static choice: leaves, exact ends, joint against greedy doubles."""

import numpy as np
import pytest

from raccoon.contracts import Cubes, RaccoonError, Search, Turns
from raccoon.cube import cl2cf_money, cube_index, probs6_to_cumulative5
from raccoon.engine.gnubg import GnubgEngine, best_move_equity
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START, terminal_points
from raccoon.env.encoder import Encoder
from raccoon.env.movegen import afterstates, enumerate_turns
from raccoon.env.position_ids import position_key
from raccoon.play import EnginePlayer, play_games
from raccoon.play.observers import Recorder
from raccoon.search import StaticSearch, child_cubeful_values, child_values, encode_pre_roll, enumerate_leaves, terminal_value
from raccoon.search.half_by_half import two_step

ENGINE = GnubgEngine(0)


@pytest.fixture(scope="module")
def turns():
    """Every turn of 30 games of GNUBG against a random player, with all endings."""
    recorder = Recorder()
    play_games((EnginePlayer(ENGINE), EnginePlayer(RandomEngine(3))), np.arange(30), 8, observers=[recorder])
    records = list(recorder.records())
    return enumerate_turns(np.concatenate([r.boards for r in records]), np.concatenate([r.dice for r in records]))


def test_values_are_minus_the_opponents(turns):
    result = child_values(turns, ENGINE)
    points = terminal_points(turns.children)
    live = points == 0
    assert result.full.all()
    assert (~live).sum() > 20
    np.testing.assert_allclose(result.values[live], -ENGINE.value(turns.children[live]), atol=1e-7)
    assert (result.values[~live] == -points[~live] / 3).all()
    assert set((result.values[~live] * 3).round(9)) <= {1.0, 2.0, 3.0}


def test_leaves_are_distinct_and_counted(turns):
    leaves = enumerate_leaves(turns.children)
    assert len(np.unique(leaves.boards.reshape(-1, 50), axis=0)) == len(leaves.boards)
    assert not terminal_points(leaves.boards).any()
    live = leaves.index >= 0
    assert (leaves.boards[leaves.index[live]] == turns.children[live]).all()
    assert (leaves.exact[~live] == terminal_value(turns.children)[~live]).all()
    assert (leaves.exact[live] == 0).all()
    before = ENGINE.evaluations
    assert child_values(turns, ENGINE).evaluations == ENGINE.evaluations - before == len(leaves.boards) < live.sum()


def test_all_children_finished():
    board = np.zeros((2, 25), np.int8)
    board[1, 0], board[0, 5] = 1, 15
    turns = enumerate_turns(board[None], np.array([[2, 1]]))
    result = child_values(turns, ENGINE)
    assert result.evaluations == 0
    assert result.values.tolist() == [2 / 3]


def test_the_best_child_is_gnubgs_best_move(turns):
    values = child_values(turns, ENGINE).values
    best = np.maximum.reduceat(values, turns.offsets[:-1]) * 3
    rows = np.arange(0, len(turns), 7)
    native = [best_move_equity(turns.boards[row], *map(int, turns.dice[row])) for row in rows]
    np.testing.assert_allclose(best[rows], native, atol=2e-6)


def test_greedy_equals_joint_without_a_double_and_never_beats_it(turns):
    joint, greedy = child_values(turns, ENGINE), child_values(turns, ENGINE, "greedy")
    assert (joint.values == greedy.values).all()
    doubles = turns.dice[:, 0] == turns.dice[:, 1]
    of_child = np.repeat(doubles, np.diff(turns.offsets))
    assert greedy.full[~of_child].all()
    assert not greedy.full[of_child].all()
    a = EnginePlayer(ENGINE, StaticSearch("joint")).choose(turns)
    b = EnginePlayer(ENGINE, StaticSearch("greedy")).choose(turns)
    assert (a[~doubles] == b[~doubles]).all()
    gain = joint.values[turns.offsets[:-1] + a] - joint.values[turns.offsets[:-1] + b]
    assert (gain >= 0).all()
    assert (gain[doubles] > 0).any()


def slow_greedy(board, die, engine):
    """Children left by greedy play, one half-move after another in plain Python, from the rules alone."""

    def moves(position):
        found = []
        mine, theirs = position[1], position[0]
        for source in range(24, -1, -1):
            if mine[source] == 0 or (mine[24] and source != 24):
                continue
            target = source - die
            if target >= 0:
                if theirs[23 - target] >= 2:
                    continue
            elif any(mine[6:25]) or (target < -1 and any(mine[source + 1 : 6])):
                continue
            after = position.copy()
            after[1, source] -= 1
            if target >= 0:
                after[1, target] += 1
                if theirs[23 - target] == 1:
                    after[0, 23 - target] = 0
                    after[0, 24] += 1
            found.append(after)
        return found

    def halves(position):
        return [b for a in moves(position) for b in (moves(a) or [None])] or [None]

    firsts = [b for b in halves(board) if b is not None]
    if not firsts:
        return None  # fewer than two half-moves: one action, nothing to be greedy about

    def standing(position):
        over = position[1].sum() == 0
        return -engine.value(position[None, ::-1])[0] if over else engine.value(position[None])[0]

    best = max(firsts, key=lambda b: (standing(b), [-byte for byte in position_key(b)]))
    if best[1].sum() == 0:
        return {best[::-1].tobytes()}
    second = moves(best)
    if not second:
        return {best[::-1].tobytes()}
    ends = [b for a in second for b in moves(a)]
    return {b[::-1].tobytes() for b in (ends or second)}


def test_greedy_keeps_exactly_the_children_behind_the_best_half(turns):
    rows = np.flatnonzero(turns.dice[:, 0] == turns.dice[:, 1])
    full = child_values(turns, ENGINE, "greedy").full
    twice = two_step(turns)
    assert not twice[turns.dice[:, 0] != turns.dice[:, 1]].any()
    assert twice[rows].mean() > 0.6
    for row in rows[:80]:
        span = slice(turns.offsets[row], turns.offsets[row + 1])
        kept = {child.tobytes() for child, keep in zip(turns.children[span], full[span], strict=True) if keep}
        expected = slow_greedy(turns.boards[row], int(turns.dice[row, 0]), ENGINE)
        if expected is None:
            assert not twice[row]
            assert len(kept) == span.stop - span.start
        else:
            assert kept == expected


def test_encode_pre_roll_shows_the_side_on_roll_without_dice():
    encoder = Encoder()
    children, _ = afterstates(START[None], np.array([[3, 1]]))
    planes = encode_pre_roll(children, encoder)
    assert planes.shape == (len(children), encoder.n_channels, 2, 12)
    rolled = [index for index, name in enumerate(encoder.names) if name.startswith("die") or "doubles" in name]
    assert len(rolled) == 4
    assert not planes[:, rolled].any()
    assert (encode_pre_roll(START[None], encoder)[0, 0] == encode_pre_roll(children, encoder)[0, 0]).all()  # opponent has not moved


def test_options():
    assert isinstance(StaticSearch(), Search)
    with pytest.raises(RaccoonError, match=r"search\.doubles='both'"):
        StaticSearch("both")  # type: ignore[arg-type]


def test_cubeful_values(turns):
    rng = np.random.default_rng(2)
    owner = rng.integers(-1, 2, len(turns)).astype(np.int8)
    mixed = Turns(turns.boards, turns.dice, Cubes(np.where(owner == 0, 1, 2).astype(np.int32), owner), turns.children, turns.offsets)
    found = {jacoby: child_cubeful_values(mixed, ENGINE, jacoby) for jacoby in (False, True)}
    rows = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    points = terminal_points(turns.children)
    for index in rng.choice(len(turns.children), 200, replace=False):
        mine = int(owner[rows[index]])
        for jacoby in (False, True):
            active = jacoby and mine == 0
            if points[index]:
                expected = -np.sign(points[index]) if active else -points[index]
            else:
                child = turns.children[index : index + 1]
                probs5 = probs6_to_cumulative5(ENGINE.probs6(child))[0]
                expected = -cl2cf_money(probs5, -mine, cube_index(child)[0], active)
            assert found[jacoby][index] == pytest.approx(expected, abs=1e-12)
    centred = np.repeat(owner == 0, np.diff(turns.offsets))
    assert (found[True][~centred] == found[False][~centred]).all()


def test_a_dead_cube_without_jacoby_ranks_like_the_cubeless_path(turns):
    dead = child_cubeful_values(turns, ENGINE, x=0.0)
    plain = child_values(turns, ENGINE).values
    np.testing.assert_allclose(dead / 3, plain, atol=1e-6)
    sharp = np.maximum.reduceat(plain, turns.offsets[:-1])
    chosen = np.maximum.reduceat(
        np.where(dead == np.repeat(np.maximum.reduceat(dead, turns.offsets[:-1]), np.diff(turns.offsets)), plain, -9), turns.offsets[:-1]
    )
    np.testing.assert_allclose(chosen, sharp, atol=1e-6)


def test_cubeful_values_need_chances(turns):
    with pytest.raises(RaccoonError, match="knows no outcome probabilities"):
        child_cubeful_values(turns, RandomEngine(1))


def test_leaves_give_each_child_the_value_of_its_board_or_its_exact_one():
    boards = np.array([START, START, START], np.int8)
    boards[1, 0] = 0  # the side that has just moved has borne off all its checkers
    leaves = enumerate_leaves(boards)
    assert len(leaves.boards) == 1
    assert leaves.scatter(np.array([0.25], np.float32)).tolist() == [-0.25, terminal_value(boards)[1], -0.25]
    assert enumerate_leaves(boards[1:2]).scatter(np.zeros(0)).tolist() == [terminal_value(boards)[1]]


def test_one_unfinished_child_among_finished_ones_is_a_leaf() -> None:
    children = np.zeros((3, 2, 25), np.int8)
    children[0, 1, 23], children[2, 1, 23] = 15, 15  # the opponent on roll has not moved, the mover is off
    children[1, 0, 0], children[1, 1, 23] = 1, 15
    leaves = enumerate_leaves(children)
    np.testing.assert_array_equal(leaves.boards, children[1:2])
    assert leaves.index.tolist() == [-1, 0, -1]
    np.testing.assert_allclose(leaves.scatter(np.array([-0.5])), [1, 0.5, 1])

"""Games that a tree search plays: what is recorded of them is what was searched and played, however many are played at a time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.label_sets.policy_rows import DECISION_ROW, unpack_decisions
from raccoon.data.selfplay.episodes import Episodes
from raccoon.data.selfplay.module import SelfPlay
from raccoon.data.selfplay.tree_module import TreeSelfPlay
from raccoon.data.selfplay.tree_player import TreePlayer
from raccoon.engine.net import NetEngine
from raccoon.engine.outcomes import five_from_six
from raccoon.engine.random import RandomEngine
from raccoon.env.board import terminal_points
from raccoon.env.encoder import Encoder
from raccoon.env.half_moves import apply_actions
from raccoon.model import MLP, Outcomes6, RaccoonNet
from raccoon.play.match import MatchResult, play_games
from raccoon.play.observers import Record, Recorder
from raccoon.rng import generator, hash64
from raccoon.search.mcts.search import MCTS

GAMES, CAP = np.arange(5), 14


def play(concurrent: int = 8, games: Any = GAMES, **knobs: Any) -> tuple[TreePlayer, list[Record], MatchResult]:
    settings = {"turns": 6, "late": 0.0, **knobs}
    player = TreePlayer(RandomEngine(3), MCTS(6, noise=0.25, temperature=1.0), 7, **settings)
    recorder = Recorder()
    result = play_games((player, player), games, 7, observers=[player, recorder], concurrent=concurrent, turn_cap=CAP)
    return player, list(recorder.records()), result


@pytest.fixture(scope="module")
def played() -> tuple[TreePlayer, list[Record], MatchResult]:
    return play()


def decisions(player: TreePlayer) -> tuple[np.ndarray, np.ndarray]:
    """The rows, and the targets that they were given."""
    episodes = player.episodes()
    targets = generator(4, "test targets").dirichlet(np.ones(6), len(episodes.boards))
    return player.decisions(episodes, targets), targets[episodes.rolled]


def test_every_roll_is_a_decision_and_the_policy_contains_what_was_played(played):
    player, records, _ = played
    rows, targets = decisions(player)
    first = rows[rows["mid"] == 0]
    batch = unpack_decisions(rows)
    np.testing.assert_array_equal(batch.boards.numpy(), np.concatenate([record.boards for record in records]))
    np.testing.assert_array_equal(np.sort(first["dice"]), np.sort(np.concatenate([record.dice for record in records])))
    np.testing.assert_array_equal(first["game"], np.repeat(GAMES, [len(record.boards) for record in records]))
    np.testing.assert_allclose(batch.probs6.numpy(), targets, atol=5e-5)
    after = iter(np.concatenate([record.after for record in records]))
    policy, at, halves = batch.policy, 0, 0
    for target in after:
        (ids, boards, again), at = reached(policy, at), at + 1
        if at < len(rows) and rows["mid"][at]:
            assert (boards[again] == policy.boards[at].numpy()).all(axis=(1, 2)).any()
            (ids, boards, again), at, halves = reached(policy, at), at + 1, halves + 1
        assert len(ids)
        assert (boards[~again] == target).all(axis=(1, 2)).any()
    assert at == len(rows)
    assert halves > 3


def reached(policy: Any, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The actions of a row that have a share, where they lead, and where the same side goes on."""
    ids = policy.ids[row][policy.shares[row] > 0].numpy()
    board, dice, mid = (np.repeat(part[row : row + 1].numpy(), len(ids), axis=0) for part in (policy.boards, policy.dice, policy.mid))
    return ids, *apply_actions(board, dice, ids, mid)


def test_root_values_are_those_of_the_same_searches_made_alone(played):
    player, records, _ = played
    episodes = player.episodes()
    assert episodes.values is not None
    assert np.isnan(episodes.values[episodes.offsets[1:] - 1]).all()
    record, start = records[2], int(episodes.offsets[2])
    for roll in (0, 3):
        keys = hash64(7, "tree play", np.array([record.game]), np.array([roll]))
        alone = player.search.search(
            record.boards[roll][None], record.dice[roll][None], player.engine, None, hash64(1, "mcts half", keys, 0)
        )
        assert episodes.values[start + roll] == alone.value[0]


def test_nothing_depends_on_what_is_played_at_the_same_time(played):
    rows, _ = decisions(played[0])
    for concurrent in (1, 3):
        assert (decisions(play(concurrent)[0])[0] == rows).all()
    alone = play(games=GAMES[3:4])[0]
    np.testing.assert_array_equal(alone.episodes().boards, played[0].episodes().boards[slice(*played[0].episodes().offsets[3:5])])


def test_after_so_many_rolls_the_most_visited_play_is_made(played):
    cold, _ = decisions(play(turns=0)[0])
    warm, _ = decisions(played[0])
    assert len(cold) != len(warm) or (cold != warm).any()
    player, records, _ = play(turns=0)
    batch = unpack_decisions(decisions(player)[0])
    for row in np.flatnonzero((batch.policy.mid == 0).numpy() & (batch.policy.dice[:, 0] != batch.policy.dice[:, 1]).numpy())[:20]:
        ids, shares = batch.policy.ids[row].numpy(), batch.policy.shares[row].numpy()
        best = ids[np.isclose(shares, shares.max())]
        board, dice = (np.repeat(part[row : row + 1].numpy(), len(best), axis=0) for part in (batch.policy.boards, batch.policy.dice))
        whole = int((~batch.policy.mid[:row]).sum())
        after = np.concatenate([record.after for record in records])[whole]
        assert (apply_actions(board, dice, best)[0] == after).all(axis=(1, 2)).any()


def test_finished_games_are_recorded_to_the_end():
    board = np.zeros((2, 2, 25), np.int8)
    board[:, 1, 0], board[:, 0, 0] = 2, 2
    player = TreePlayer(RandomEngine(3), MCTS(2), 1, 0, 0.0)
    play_games((player, player), np.arange(2), 1, observers=[player], starts=board)
    episodes = player.episodes()
    assert (terminal_points(episodes.boards[episodes.offsets[1:] - 1]) == -1).all()
    assert (np.diff(episodes.offsets) == 2).all()


def test_it_plays_both_sides_or_not_at_all():
    player = TreePlayer(RandomEngine(3), MCTS(2), 1, 0, 0.0)
    with pytest.raises(RaccoonError, match="plays both sides"):
        play_games((player, player), [0], 1)
    other = TreePlayer(RandomEngine(3), MCTS(2), 1, 0, 0.0)
    with pytest.raises(RaccoonError, match="plays both sides"):
        play_games((player, other), np.arange(4), 1, observers=[player])


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"search": RandomEngine(1)}, "search"),
        ({"temperature_turns": -1}, "temperature_turns"),
        ({"temperature_late": -0.1}, "temperature_late"),
    ],
)
def test_bad_settings_are_named(settings, key):
    with pytest.raises(RaccoonError, match=rf"data\.{key}="):
        TreeSelfPlay(**{"search": MCTS(1), **settings})


class Learner:
    """Gives every state a target of its own."""

    def __init__(self) -> None:
        self.best_net = RaccoonNet(Encoder(), partial(MLP, hidden=[8]), Outcomes6)

    def label(self, episodes: Episodes, engine: Any) -> np.ndarray:
        return generator(5, "test labels").dirichlet(np.ones(6), len(episodes.boards))


def test_an_epoch_is_played_by_its_settings_and_labelled_by_the_learner():
    data = TreeSelfPlay(MCTS(6, noise=0.25, temperature=1.0), 3, 0.5, games=5, holdout=0.5, special=0.0, turn_cap=8, seed=7)
    learner = Learner()
    made = data.play_and_label(learner, np.arange(5, 10))
    player = TreePlayer(NetEngine(learner.best_net), data.search, 7, 3, 0.5)
    result = play_games((player, player), np.arange(5, 10), 7, observers=[player], turn_cap=8)
    episodes = player.episodes()
    assert (made["rows"] == player.decisions(episodes, learner.label(episodes, None))).all()
    assert (made["rolls"] == result.rolls).all()


def test_games_are_those_of_selfplay_in_rows_of_another_kind():
    data = TreeSelfPlay(MCTS(1), games=40, special=0.5)
    assert (data.starts(1) == SelfPlay(games=40, special=0.5).starts(1)).all()
    assert data.window.rows.dtype == DECISION_ROW
    rows, targets = decisions(play(games=GAMES[:1])[0])
    data.window.add(rows)
    other = TreeSelfPlay(MCTS(1), games=40)
    other.load_state_dict(data.state_dict())
    for part in ("rows", "held"):
        assert (getattr(other.window, part) == getattr(data.window, part)).all()
    kept = np.concatenate([data.window.rows, data.window.held])
    np.testing.assert_allclose(kept["probs"][kept["mid"] == 0] / 65535, five_from_six(targets), atol=1e-5)

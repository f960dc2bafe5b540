"""Episodes against the recorder that keeps everything, and the replay window."""

from __future__ import annotations

import numpy as np
import torch

from raccoon.data.label_sets.rows import ROW
from raccoon.data.sampler import held_out
from raccoon.data.selfplay.episodes import EpisodeRecorder
from raccoon.data.selfplay.replay import FreshLoader, ReplayLoader, ReplayWindow
from raccoon.engine.random import RandomEngine
from raccoon.env.board import START, terminal_points
from raccoon.env.position_ids import position_keys
from raccoon.play import EnginePlayer, play_games
from raccoon.play.observers import Recorder

PLAYER = EnginePlayer(RandomEngine(1))


def test_episodes_are_the_recorded_games_and_their_last_boards():
    whole, recorder = Recorder(), EpisodeRecorder()
    result = play_games((PLAYER, PLAYER), np.arange(40, 52), 5, observers=[whole, recorder], concurrent=5, turn_cap=90)
    assert 0 < result.capped.sum() < 12
    episodes = recorder.episodes()
    assert episodes.games.tolist() == list(range(40, 52))
    records = list(whole.records())
    for game, record in enumerate(records):
        rows = slice(episodes.offsets[game], episodes.offsets[game + 1])
        assert (episodes.boards[rows] == np.concatenate([record.boards, record.after[-1:]])).all()
        assert episodes.turn[rows].tolist() == list(range(len(record.boards) + 1))
    ends = terminal_points(episodes.boards[episodes.offsets[1:] - 1])
    assert ((ends == 0) == result.capped).all()
    assert (terminal_points(episodes.boards[episodes.rolled]) == 0).all()
    assert episodes.rolled.sum() == result.rolls.sum()


def test_no_games_no_episodes():
    episodes = EpisodeRecorder().episodes()
    assert len(episodes.boards) == 0
    assert episodes.offsets.tolist() == [0]


def made_rows(games: int, each: int = 3, first: int = 0) -> np.ndarray:
    rows = np.zeros(games * each, ROW)
    rows["game"] = first + np.repeat(np.arange(games), each)
    rows["turn"] = np.tile(np.arange(each), games)
    rows["probs"] = 65535 // 2
    rows["key"] = position_keys(START[None])
    return rows


def test_the_window_keeps_the_newest_and_holds_whole_games_out():
    window = ReplayWindow(size=100, held_size=20, holdout=0.2)
    rows = [made_rows(60, first=60 * k) for k in range(3)]
    for part in rows:
        window.add(part)
    every = np.concatenate(rows)
    held = held_out(every["game"], 0.2)
    assert (window.rows == every[~held][-100:]).all()
    assert (window.held == every[held][-20:]).all()


def test_the_state_is_the_window():
    window, other = (ReplayWindow(100, 20, 0.2) for _ in range(2))
    window.add(made_rows(60))
    state = window.state_dict()
    assert all(tensor.dtype == torch.uint8 for tensor in state.values())
    other.load_state_dict(state)
    assert (other.rows == window.rows).all()
    assert (other.held == window.held).all()
    assert (other.draw(30, 1, 2) == window.draw(30, 1, 2)).all()


def test_a_draw_takes_every_row_once_before_any_twice():
    window = ReplayWindow(100, 20, 0.2)
    window.add(made_rows(20))
    n = len(window.rows)
    marks = window.rows["game"].astype(int) * 10 + window.rows["turn"]
    drawn = window.draw(2 * n + 5, 3, 0)
    drawn = drawn["game"].astype(int) * 10 + drawn["turn"]
    assert sorted(drawn[:n]) == sorted(drawn[n : 2 * n]) == sorted(marks)
    assert drawn[:n].tolist() != drawn[n : 2 * n].tolist()
    assert len(set(drawn[2 * n :])) == 5


def batches(loader: ReplayLoader) -> list[torch.Tensor]:
    return [batch[1] for batch in loader]


def test_a_loader_goes_on_in_the_middle_and_ranks_share_an_epoch():
    played: list[int] = []
    window = ReplayWindow(1000, 20, 0.2)
    rows = made_rows(40)
    rows["probs"] = np.arange(len(rows))[:, None] * 100 + np.arange(5)[::-1]
    window.add(rows)

    def loader(rank: int = 0, world: int = 1, count: int = 6) -> ReplayLoader:
        made = ReplayLoader(window, played.append, count, 7, 3, rank, world)
        made.sampler.set_epoch(4)
        return made

    whole = batches(loader())
    assert played == [4]
    assert len(whole) == len(loader()) == 6
    cut = loader()
    cut.load_state_dict({"epoch": 4, "batches": 4})
    assert torch.equal(torch.cat(batches(cut)), torch.cat(whole[4:]))
    ranks = [batches(loader(rank, 2, 3)) for rank in range(2)]
    shared = [batch for pair in zip(*ranks, strict=True) for batch in pair]
    assert torch.equal(torch.cat(shared), torch.cat(whole))
    fresh = [len(batch[1]) for batch in FreshLoader(window, 5)]
    assert sum(fresh) == len(window.held)

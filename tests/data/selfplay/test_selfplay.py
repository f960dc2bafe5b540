"""The DataModule that plays: its games, what it holds, what it refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raccoon.contracts import RaccoonError
from raccoon.data.selfplay.module import SelfPlay
from raccoon.env.board import START


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("games", 0),
        ("batches", 0),
        ("batch_size", 0),
        ("window", 0),
        ("special", 1.5),
        ("holdout", -0.1),
        ("kinds", ["backgames"]),
        ("val_rows", 0),
        ("concurrent", 0),
        ("turn_cap", 0),
        ("actors", 1),
        ("actor_games", 0),
        ("seed", -1),
    ],
)
def test_bad_settings_are_named(key, value):
    with pytest.raises(RaccoonError, match=rf"data\.{key}="):
        SelfPlay(**{key: value})


def test_too_few_games_to_hold_one_out_are_refused():
    with pytest.raises(RaccoonError, match=r"data\.games=3, data\.holdout=0\.01"):
        SelfPlay(games=3, holdout=0.01)


def test_two_thousand_million_games_an_epoch_are_checked_at_once() -> None:
    assert SelfPlay(games=2**31).games == 2**31
    with pytest.raises(RaccoonError, match="none of the first games is held out"):
        SelfPlay(games=2**31, holdout=0.0)


def test_every_process_has_a_game():
    data = SelfPlay(games=20, holdout=0.2)
    trainer: Any = SimpleNamespace(global_rank=0, world_size=30)
    data.trainer = trainer
    with pytest.raises(RaccoonError, match=r"data\.games=20.*30 processes"):
        data.train_dataloader()


def test_a_share_of_the_games_starts_elsewhere_and_differs_by_epoch():
    data = SelfPlay(games=400, special=0.25)
    first, second = data.starts(0), data.starts(1)
    special = (first != START).any(axis=(1, 2))
    assert 60 < special.sum() < 140
    assert (data.starts(0) == first).all()
    assert (first != second).any()
    assert (SelfPlay(games=400, special=0.25, seed=2).starts(0) != first).any()
    assert (SelfPlay(games=40, special=0).starts(0) == START).all()
    assert (SelfPlay(games=40, special=1).starts(0) != START).any(axis=(1, 2)).all()


def test_without_a_trainer_that_labels_it_says_which_to_choose():
    with pytest.raises(RaccoonError, match="trainer=td"):
        next(iter(SelfPlay().train_dataloader()))


def test_what_it_saves_is_what_it_needs():
    data, other = SelfPlay(), SelfPlay()
    data.played, data.figures = 3, {"play/rolls": 50.0}
    other.load_state_dict(data.state_dict())
    assert (other.played, other.figures) == (3, {"play/rolls": 50.0})
    other.play(2)  # played already: nothing happens, not even without a trainer
    assert len(np.atleast_1d(other.window.rows)) == 0


def test_actors_need_an_executor_that_keeps_its_workers():
    with pytest.raises(RaccoonError, match=r"data\.ahead=true: str keeps no workers; choose executor=processes"):
        SelfPlay(ahead=True, executor="none")  # pyright: ignore[reportArgumentType]
    with pytest.raises(RaccoonError, match=r"data\.actors=-1"):
        SelfPlay(ahead=True, actors=-1)

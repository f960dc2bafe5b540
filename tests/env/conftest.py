"""Positions with their OpenSpiel states, from random play and from gnubg playing itself."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.env.board import swap
from raccoon.env.game_wrapper import load_game, play_turn, random_playout, view

gnubg_nn: Any = importlib.import_module("gnubg_nn")  # its members are made at run time

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="session")
def rule_cases() -> list[dict[str, Any]]:
    return json.loads((GOLDEN / "rules.json").read_text())


@pytest.fixture(scope="session")
def terminal_cases() -> list[dict[str, Any]]:
    return json.loads((GOLDEN / "terminal.json").read_text())


@pytest.fixture(scope="session")
def cube_cases() -> list[dict[str, Any]]:
    return json.loads((GOLDEN / "cube_exact.json").read_text())


def _random_turns(rng: np.random.Generator) -> Iterator[Any]:
    """States at the start of a turn, of random games without end."""
    game = load_game()
    while True:
        for state in random_playout(rng, game):
            if not state.is_terminal() and not view(state).mid_doubles:
                yield state


def _gnubg_turns(rng: np.random.Generator) -> Iterator[Any]:
    """The same of games that gnubg plays against itself at 0-ply."""
    game = load_game()
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(int(rng.choice([action for action, _ in state.chance_outcomes()])))
                continue
            yield state.clone()
            here = view(state)
            assert here.dice is not None
            ranked = gnubg_nn.best_move(here.board.tolist(), *here.dice, 0, list=1)[1]
            best = np.array(gnubg_nn.board_from_position_key(ranked[0][0]), np.int8) if ranked else swap(here.board)
            play_turn(state, best)


@pytest.fixture(scope="session")
def turn_states() -> Callable[[int, int], list[Any]]:
    """``turn_states(n, seed)``: n decision states, half from random play, half from gnubg's."""

    def sample(n: int, seed: int) -> list[Any]:
        rng = np.random.default_rng(seed)
        return [*islice(_random_turns(rng), n // 2), *islice(_gnubg_turns(rng), n - n // 2)]

    return sample

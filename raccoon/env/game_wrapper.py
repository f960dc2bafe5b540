"""OpenSpiel's backgammon beside our boards: views of its states, its dice, its turns. The rules oracle, not a fast path.

OpenSpiel's player 0 moves up its absolute points (our point P is its index 24 - P), player 1 down (index P - 1). A turn
is a chance node and one decision, two for a double whose first half moved twice. Scores are full (gammons count).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import ArrayLike, NDArray

from raccoon.contracts import Boards, RaccoonError
from raccoon.env.board import START
from raccoon.env.half_moves import apply_actions, for_player, legal_actions
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLLS
from raccoon.env.position_ids import row_keys

__all__ = [
    "CHANCE_ROLLS",
    "OPENING_OUTCOMES",
    "View",
    "apply_roll",
    "chance_action",
    "load_game",
    "play_turn",
    "random_playout",
    "turn_results",
    "view",
]

_POINT_WEIGHTS = np.array([1.0, 2.0, 3.0, 1.0])


def _chance_rolls() -> NDArray[np.int8]:
    double = ROLLS[:, 0] == ROLLS[:, 1]
    rolls = np.concatenate([np.repeat(ROLLS[~double], 2, axis=0), ROLLS[double]])
    rolls.setflags(write=False)
    return rolls


CHANCE_ROLLS: NDArray[np.int8] = _chance_rolls()
"""``int8[36, 2]``: the dice of each chance action, lower die first. At the opening only the first 30 exist."""
OPENING_OUTCOMES = 30
"""Chance actions of the opening node; an even one lets player 0 start, an odd one player 1."""


@dataclass(frozen=True, eq=False)
class View:
    """An OpenSpiel state in our terms.

    ``board int8[2, 25]`` with ``player`` (OpenSpiel's 0 or 1) in slot 1: the side to decide, or to roll at a chance
    node, or that would roll next when the game is over; -1 before the opening roll. ``dice`` None at a chance node.
    """

    board: Boards
    player: int
    dice: tuple[int, int] | None
    mid_doubles: bool


def load_game(turn_cap: int = 500) -> Any:
    """``pyspiel`` backgammon with full scoring. A game of more than ``turn_cap`` turns ends with returns 0, 0."""
    open_spiel: Any = pyspiel
    return open_spiel.load_game("backgammon", {"scoring_type": "full_scoring", "max_player_turns": turn_cap})


def _boards(tensors: ArrayLike, player: int) -> Boards:
    """``int8[N, 2, 25]`` with ``player`` in slot 1 from its observation tensors ``[N, 200]``.

    Four numbers a point: exactly one, exactly two, exactly three checkers, and how many more than three.
    """
    seen = np.asarray(tensors)
    points = seen[:, :192].reshape(len(seen), 2, 24, 4)
    counts = points @ _POINT_WEIGHTS + 3 * (points[..., 3] > 0)
    boards = np.empty((len(seen), 2, 25), np.int8)
    order = slice(None, None, -1)
    boards[:, 1, :24] = counts[:, 0, order] if player == 0 else counts[:, 0]
    boards[:, 0, :24] = counts[:, 1] if player == 0 else counts[:, 1, order]
    boards[:, 1, 24], boards[:, 0, 24] = seen[:, 192], seen[:, 195]
    return boards


def view(state: Any) -> View:
    """Read an OpenSpiel backgammon state (decision, chance or finished)."""
    history = state.full_history()
    if not history:
        return View(START.copy(), -1, None, False)
    last = history[-1].player
    deciding = not state.is_chance_node() and not state.is_terminal()
    player = state.current_player() if deciding else 1 - last
    board = _boards([state.observation_tensor(player)], player)[0]
    if not deciding:
        return View(board, player, None, False)
    mid_doubles = last == player
    low, high = CHANCE_ROLLS[history[-2 if mid_doubles else -1].action]
    return View(board, player, (int(low), int(high)), mid_doubles)


def chance_action(dice: ArrayLike, starter: int | None = None) -> int:
    """The chance action of a roll (dice in either order); ``starter`` 0 or 1 at the opening node, else None.

    Later rolls have two actions for each pair: this is the first. Raises RaccoonError on bad dice or an opening double.
    """
    low, high = sorted(int(die) for die in np.asarray(dice))
    if not 1 <= low <= high <= 6:
        raise RaccoonError(f"dice: {low}, {high}; each die is 1..6")
    if starter is not None and (low == high or starter not in (0, 1)):
        raise RaccoonError(f"opening roll: {low}-{high} with starter {starter}; it has two different dice and starter 0 or 1")
    action = int(np.flatnonzero((np.array([low, high]) == CHANCE_ROLLS).all(axis=1))[0])
    return action + (starter or 0)


def apply_roll(state: Any, dice: ArrayLike, starter: int | None = None) -> None:
    """Roll ``dice`` at a chance node, in place; ``starter`` at the opening node only."""
    if not state.is_chance_node():
        raise RaccoonError("state: not at a chance node; no roll can be applied")
    if state.is_initial_state() != (starter is not None):
        raise RaccoonError("state: the opening roll, and no other, names the player who starts")
    state.apply_action(chance_action(dice, starter))


def turn_results(state: Any) -> Boards:
    """Distinct afterstates ``int8[M, 2, 25]`` of a decision state, ascending by key, by OpenSpiel's own moves alone."""
    mover = state.current_player()
    results: set[tuple[float, ...]] = set()
    halves: set[tuple[float, ...]] = set()
    waiting = [state]
    while waiting:
        here = waiting.pop()
        for action in here.legal_actions():
            child = here.child(action)
            # a double whose first half bears off the last checker ends here too
            over = child.is_terminal() or child.current_player() != mover
            tensor = tuple(child.observation_tensor(1 - mover))
            if over:
                # the last three numbers, who moves and the dice, differ between equal boards at the end of a game
                results.add(tensor[:196])
            elif tensor not in halves:
                halves.add(tensor)
                waiting.append(child)
    boards = _boards(sorted(results), 1 - mover)
    boards = boards[unique_boards(boards)[0]]
    return boards[np.argsort(row_keys(np.zeros(len(boards)), boards))]


def play_turn(state: Any, child: ArrayLike) -> list[int]:
    """Play the turn that leads to the afterstate ``child int8[2, 25]``, in place; the OpenSpiel actions it took.

    Raises RaccoonError when the state is no decision or no legal play leads there.
    """
    if state.is_terminal() or state.is_chance_node():
        raise RaccoonError("state: not at a decision; no turn can be played")
    target = np.asarray(child, np.int8)
    here = view(state)
    dice = np.array([here.dice], np.int8)
    path = _path(here.board, dice, here.mid_doubles, target)
    if path is None:
        raise RaccoonError(f"child: no legal play of {here.dice} leads to slot 0 {target[0].tolist()}, slot 1 {target[1].tolist()}")
    actions = [int(action) for action in for_player(path, here.player)]
    for action in actions:
        state.apply_action(action)
    return actions


def _path(board: Boards, dice: NDArray[np.int8], mid_doubles: bool, target: Boards) -> list[int] | None:
    """Half turns (ids of the mover's numbering) from ``board`` to the afterstate ``target``, or None. ``dice [1, 2]``."""
    ids, _ = legal_actions(board[None], dice)
    n = len(ids)
    boards, again = apply_actions(np.repeat(board[None], n, 0), np.repeat(dice, n, 0), ids, np.full(n, mid_doubles))
    for row in range(n):
        if not again[row]:
            if np.array_equal(boards[row], target):
                return [int(ids[row])]
            continue
        rest = _path(boards[row], dice, True, target)
        if rest is not None:
            return [int(ids[row]), *rest]
    return None


def random_playout(rng: np.random.Generator, game: Any = None) -> Iterator[Any]:
    """One game of uniformly random actions: every decision state (a fresh clone each), then the finished state."""
    state = (load_game() if game is None else game).new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            actions = [action for action, _ in state.chance_outcomes()]
        else:
            yield state.clone()
            actions = state.legal_actions()
        state.apply_action(int(rng.choice(actions)))
    yield state

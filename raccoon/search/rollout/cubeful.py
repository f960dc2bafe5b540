"""Rollouts with a live cube, played to the end of the game, with the luck of the dice taken out.

One set of games serves any number of cubes: both sides make the cubeless best play of an engine, so that cubes at the same
position meet the same boards and the same dice, and what is told apart is their difference. Before each roll the side that may double
does so, and the other side answers, by the average over the 21 rolls of the cube model's equities: GNU Backgammon's 1-ply cube
decision. At every roll the stake times ``h(roll) - mean of h`` is subtracted, ``h`` being the cubeful equity after the play; its
mean is zero for any engine and model, so the average stays right. Dice are those of ``raccoon.search.rollout.quasi_random``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raccoon.contracts import OPPONENT, OUTCOME_POINTS, Boards, CubeRules, Cubes
from raccoon.cube.choice import OWNERS, with_beavers, worth
from raccoon.cube.model import Janowski
from raccoon.engine.outcomes import exact_probs6, flip
from raccoon.engine.rolls import roll_index, roll_means
from raccoon.env import ragged
from raccoon.env.board import terminal_points, unfinished
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLLS
from raccoon.search.rollout.quasi_random import BLOCK, trial_dice
from raccoon.search.tree import Tree

__all__ = ["CubefulTrials", "Lines", "roll_cubeful"]

Floats = NDArray[np.float64]
_LONGEST = 10_000
_GAMES = 1024  # in lock step, about


@dataclass(frozen=True)
class Lines:
    """``L`` cubes to roll out: ``position int64[L]`` is the board of each, ``cubes`` under its rules, ``acts bool[L]`` whether the side
    on roll may turn it before the first roll."""

    position: NDArray[np.int64]
    cubes: Cubes
    acts: NDArray[np.bool_]


@dataclass(frozen=True)
class CubefulTrials:
    """What each of T trials came to, to the side on roll, luck taken out: ``equity float64[L, T]`` in points (times the value of
    the line's cube), ``probs6 float64[P, T, 6]`` of the positions without a cube."""

    equity: Floats
    probs6: Floats

    @property
    def cubeless(self) -> Floats:
        """``float64[P, T]``: points of the positions without a cube."""
        return self.probs6 @ OUTCOME_POINTS


def roll_cubeful(boards: Boards, lines: Lines, tree: Tree, model: Janowski, trials: int, seed: int) -> CubefulTrials:
    """Roll out pre-roll, unfinished ``boards [P, 2, 25]``: plays by the engine of ``tree``, of those that its pruning leaves.

    Raises RaccoonError for illegal or finished boards, and for an engine that only knows scalars.
    """
    boards = unfinished(boards)
    parts: list[_Games] = []
    size = BLOCK * max(1, _GAMES // (BLOCK * max(len(boards), 1)))
    for start in range(0, trials, size):
        games = _Games(boards, lines, np.arange(start, min(start + size, trials)))
        for step in range(_LONGEST):
            if not games.advance(step, seed, tree, model):
                break
        parts.append(games)
    equity = np.concatenate([games.equity for games in parts], axis=1)
    return CubefulTrials(equity, np.concatenate([games.probs6 for games in parts], axis=1))


class _Games:
    """A block of trials in lock step: ``now int8[G, 2, 25]``, game ``p * T + t``; line-games ``l * T + t`` carry the cubes."""

    def __init__(self, boards: Boards, lines: Lines, trial: NDArray[np.int64]) -> None:
        size, rules = len(trial), lines.cubes.rules
        self.shape, self.rules = (len(boards), len(lines.position), size), rules or CubeRules()
        self.trial = np.tile(trial, len(boards))
        self.now = np.repeat(boards, size, axis=0)
        self.alive = np.arange(len(self.now))
        self.sign = 1.0  # the side of the first roll is on roll
        self._probs6 = np.zeros((len(self.now), 6))
        self.game = (lines.position[:, None] * size + np.arange(size)).reshape(-1)
        self.value, self.owner = np.repeat(lines.cubes.value, size), np.repeat(lines.cubes.owner, size)
        self.acts = np.repeat(lines.acts, size)
        self._equity = np.zeros(len(self.game))
        self.open = np.arange(len(self.game))

    @property
    def equity(self) -> Floats:
        return self._equity.reshape(self.shape[1:])

    @property
    def probs6(self) -> Floats:
        return self._probs6.reshape(self.shape[0], self.shape[2], 6)

    def advance(self, step: int, seed: int, tree: Tree, model: Janowski) -> bool:
        """Cube, roll and play of all games that go on; whether any does then."""
        first, inverse = unique_boards(self.now[self.alive])
        replies, offsets = tree.children(self.now[self.alive][first])
        distinct, back = unique_boards(replies)
        chances = np.asarray(tree.engine.probs6(replies[distinct]), np.float64)
        best = ragged.argmax(-(chances @ OUTCOME_POINTS)[back], offsets)
        children, theirs = replies[best], chances[back[best]]
        values = _cubeful(theirs, children, model, self.rules).reshape(len(first), len(ROLLS), len(OWNERS))
        means = np.stack([roll_means(values[:, :, column]) for column in range(len(OWNERS))], axis=1)
        roll = roll_index(trial_dice(seed, self.trial[self.alive], step))
        after = flip(theirs).reshape(len(first), len(ROLLS), 6)
        expected = np.stack([roll_means(after[:, :, column]) for column in range(6)], axis=1)
        self._probs6[self.alive] -= self._seen(after[inverse, roll] - expected[inverse])

        place = np.zeros(len(self.now), np.int64)
        place[self.alive] = np.arange(len(self.alive))
        at = place[self.game[self.open]]
        self._turn_cubes(means[inverse[at]], step)
        at = place[self.game[self.open]]
        column = self.owner[self.open]
        row = inverse[at]
        luck = values[row, roll[at], column] - means[row, column]
        self._equity[self.open] -= self.sign * self.value[self.open] * luck

        self.now[self.alive] = children[inverse * len(ROLLS) + roll]
        self.sign = -self.sign
        self.owner[self.open] = -self.owner[self.open]
        self._end()
        return bool(len(self.alive))

    def _seen(self, probs6: Floats) -> Floats:
        return probs6 if self.sign > 0 else flip(probs6)

    def _turn_cubes(self, means: Floats, step: int) -> None:
        """Doubles and answers of the open line-games, by ``means [K, 3]``: the side on roll's equity with the cube of each owner."""
        rows = self.open
        cubes = Cubes(self.value[rows], self.owner[rows], self.rules)
        waits = means[np.arange(len(rows)), cubes.owner]
        played = 2.0 * means[:, OPPONENT]
        doubled = with_beavers(played, cubes)
        offers = cubes.may_double() & (np.minimum(doubled, 1.0) > waits)
        if step == 0:
            offers &= self.acts[rows]
        drops = offers & (doubled > 1.0)
        self._equity[rows[drops]] += self.sign * self.value[rows[drops]]
        beavers = (doubled != played)[offers & ~drops]
        taken = rows[offers & ~drops]
        self.value[taken] *= np.where(beavers, 4, 2).astype(np.int32)
        self.owner[taken] = OPPONENT
        self.open = rows[~drops]

    def _end(self) -> None:
        """Pays games that are over, to the side on roll now."""
        points = np.zeros(len(self.now), np.int64)
        points[self.alive] = terminal_points(self.now[self.alive])
        over = self.alive[points[self.alive] != 0]
        self._probs6[over] += self._seen(exact_probs6(points[over]).astype(np.float64))
        paid = points[self.game[self.open]] != 0
        rows = self.open[paid]
        cubes = Cubes(self.value[rows], self.owner[rows], self.rules)
        self._equity[rows] += self.sign * self.value[rows] * cubes.game_points(points[self.game[rows]])
        self.open, self.alive = self.open[~paid], self.alive[points[self.alive] == 0]


def _cubeful(theirs: Floats, children: Boards, model: Janowski, rules: CubeRules) -> Floats:
    """``float64[K, 3]``: equity to the mover of afterstates, per unit of the cube, with the cube of each of ``OWNERS`` (as the mover
    sees them); ``theirs [K, 6]`` the chances of the side on roll in them."""
    value = np.ones(len(children), np.int32)
    cubes = [Cubes(value, np.full(len(children), -owner, np.int8), rules) for owner in OWNERS]
    return -np.stack([worth(model, theirs, children, each) for each in cubes], axis=1)

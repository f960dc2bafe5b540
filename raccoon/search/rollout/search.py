"""Variance-reduced rollouts: play a position out many times with the luck of the dice taken out.

Trials of all positions run in lock step. Dice depend on (seed, trial, roll number) alone, so every candidate meets the
same ones; the first two rolls are stratified (see ``quasi_random``). At every roll the luck
``h(roll) - mean of h`` is subtracted, ``h`` being what the rolling engine thinks after its best static play: its mean is
exactly zero whatever the engine, so the average stays right and its spread falls. A trial ends with the game, or after
``truncate`` half-moves with the engine's own view of the board. (As in GNU Backgammon; XG calls truncated ones Roller.)
"""

# What callers and configs give is checked here, whatever its annotation says.
# pyright: reportUnnecessaryIsInstance=false
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raccoon.checks import flag, number, whole
from raccoon.contracts import OUTCOME_POINTS, Boards, Engine, RaccoonError, Search, SearchResult, Turns
from raccoon.engine.outcomes import exact_probs6, flip
from raccoon.engine.rolls import roll_index, roll_means
from raccoon.env import ragged
from raccoon.env.board import terminal_points, unfinished
from raccoon.env.half_moves import low_first
from raccoon.env.lookup import unique_boards
from raccoon.env.movegen import ROLLS, afterstates_all_rolls, enumerate_turns
from raccoon.env.position_ids import from_position_id
from raccoon.executor import Executor, Work, run_shards
from raccoon.search.filters import Filter, keep_best
from raccoon.search.lookahead import StaticSearch, enumerate_leaves, leaf_values
from raccoon.search.rollout.quasi_random import BLOCK, trial_dice

__all__ = ["Rollout", "RolloutResult", "run_rollouts"]


@dataclass(frozen=True)
class RolloutResult:
    """Of N positions, to the side on roll: ``equity float64[N]`` (points) and its standard error ``se``; ``probs6 float64[N, 6]`` and
    ``probs_se`` (NaN where the engine only knows scalars); ``trials int64[N]``; ``truncated float64[N]``, the share of trials
    that did not end with the game. Corrected chances are means, and rare ones can come out slightly negative."""

    equity: NDArray[np.float64]
    se: NDArray[np.float64]
    probs6: NDArray[np.float64]
    probs_se: NDArray[np.float64]
    trials: NDArray[np.int64]
    truncated: NDArray[np.float64]


class Rollout:
    """``trials`` games of each position or candidate, ``truncate`` half-moves long (null: to the end).

    ``search`` picks the plays of the trials (null: static). ``filter`` says which candidates of a decision are rolled out.
    ``stop_se``: a position rests when the standard error of its equity is below so many points, looked at after every 36
    trials from the second 36 on (null: never). ``luck``: false leaves the luck in. ``stratify``: share the first two
    rolls out evenly, which wants a multiple of 36 trials (false: any number from 2). ``seed`` of the dice; ``batch``: boards
    at a time, about (it changes nothing but memory). Raises RaccoonError naming a key of ``search.``.
    """

    def __init__(
        self,
        trials: int = 360,
        truncate: int | None = 7,
        search: Search | None = None,
        filter: Filter | None = None,
        stop_se: float | None = None,
        luck: bool = True,
        stratify: bool = True,
        seed: int = 1,
        batch: int = 2048,
        name: str | None = None,
    ) -> None:
        self.luck, self.stratify = flag("search.luck", luck), flag("search.stratify", stratify)
        self.trials = whole("search.trials", trials, 2)
        if stratify and trials % BLOCK:
            raise RaccoonError(f"search.trials={trials}: give a multiple of {BLOCK}, or search.stratify=false")
        self.truncate = None if truncate is None else whole("search.truncate", truncate, 1)
        self.search: Search = StaticSearch() if search is None else search
        self.filter = Filter("value", 3, 0.12) if filter is None else filter
        self.stop_se = None if stop_se is None else number("search.stop_se", stop_se, "points above 0, or null", above=True)
        self.seed, self.batch = whole("search.seed", seed, 0), whole("search.batch", batch, BLOCK)
        self.name = name or f"rollout{trials}" + ("" if truncate is None else f"t{truncate}")

    def values(self, turns: Turns, engine: Engine) -> SearchResult:
        """See ``Search.values``: the kept candidates by rollout, the same dice for all; rows with one are not rolled out."""
        before = engine.evaluations
        values, keep = self.filter.apply(turns, engine)
        several = ragged.spread(ragged.row_sum(keep, turns.offsets) > 1, turns.offsets)
        picked = np.flatnonzero(keep & several)
        leaves = enumerate_leaves(turns.children[picked])
        if len(leaves.boards):
            values[picked] = leaves.scatter(self.roll(leaves.boards, engine).equity / 3.0)
        return SearchResult(values, keep, engine.evaluations - before)

    def roll(self, boards: ArrayLike, engine: Engine) -> RolloutResult:
        """Roll out pre-roll, unfinished ``boards [N, 2, 25]``. Raises RaccoonError for illegal or finished ones."""
        array = unfinished(boards)
        width = 6 if engine.has_probs else 1
        sums, squares = np.zeros((len(array), width + 1)), np.zeros((len(array), width + 1))
        trials, cut = np.zeros(len(array), np.int64), np.zeros(len(array))
        resting = np.zeros(len(array), bool)
        for block in range(-(-self.trials // BLOCK)):
            going = np.flatnonzero(~resting)
            for start in range(0, len(going), max(1, self.batch // BLOCK)):
                rows = going[start : start + max(1, self.batch // BLOCK)]
                payoff, truncated = self._block(array[rows], block, engine, width)
                points = 3.0 * payoff if width == 1 else payoff @ OUTCOME_POINTS[:, None]
                found = np.concatenate([payoff, points], axis=2)
                sums[rows] += found.sum(axis=1)
                squares[rows] += (found**2).sum(axis=1)
                trials[rows] += payoff.shape[1]
                cut[rows] += truncated
            if self.stop_se is not None and block:
                resting = _errors(sums, squares, trials)[:, -1] < self.stop_se
        mean, error = sums / trials[:, None], _errors(sums, squares, trials)
        none = np.full((len(array), 6), np.nan)
        probs, probs_se = (mean[:, :6], error[:, :6]) if width == 6 else (none, none)
        return RolloutResult(mean[:, -1], error[:, -1], probs, probs_se, trials, cut / trials)

    def _block(self, boards: Boards, block: int, engine: Engine, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``(payoff float64[N, T, width], truncated float64[N])`` of a block of T <= 36 trials, luck taken out, to the side on roll."""
        size = min(BLOCK, self.trials - block * BLOCK)
        games = len(boards) * size
        trial = np.tile(block * BLOCK + np.arange(size), len(boards))
        now, mine = np.repeat(boards, size, axis=0), np.ones(games, bool)  # mine: the original side is on roll
        payoff, alive = np.zeros((games, width)), np.arange(games)
        for step in range(10_000 if self.truncate is None else self.truncate):
            dice = trial_dice(self.seed, trial[alive], step, self.stratify)
            children, luck = self._step(now[alive], dice, engine, width)
            if self.luck:
                payoff[alive] -= _seen(luck, mine[alive])
            now[alive], mine[alive] = children, ~mine[alive]
            points = terminal_points(children)
            over = points != 0
            ended = alive[over]
            if len(ended):
                exact = exact_probs6(points[over]).astype(np.float64) if width == 6 else points[over, None] / 3.0
                payoff[ended] += _seen(exact, mine[ended])
            alive = alive[~over]
            if not len(alive):
                break
        if len(alive):
            payoff[alive] += _seen(_view(now[alive], engine, width), mine[alive])
        left = np.zeros(games)
        left[alive] = 1.0
        return payoff.reshape(len(boards), size, width), left.reshape(len(boards), size).sum(axis=1)

    def _step(self, boards: Boards, dice: NDArray[np.int8], engine: Engine, width: int) -> tuple[Boards, NDArray[np.float64]]:
        """``(children int8[K, 2, 25], luck float64[K, width])`` of one roll each, luck to the mover."""
        first, inverse = unique_boards(boards)
        static = type(self.search) is StaticSearch and self.search.doubles == "joint"
        luck = np.zeros((len(boards), width))
        children = boards
        if self.luck or static:
            replies, offsets = afterstates_all_rolls(boards[first])
            best, _ = keep_best(leaf_values(enumerate_leaves(replies), engine), offsets, 1)
            place = inverse * len(ROLLS) + roll_index(dice)
            children = replies[best[place]]
            if self.luck:
                after = _mover(_view(replies[best], engine, width)).reshape(-1, len(ROLLS), width).transpose(0, 2, 1)
                means = roll_means(after.reshape(-1, len(ROLLS))).reshape(-1, width)
                luck = after.transpose(0, 2, 1).reshape(-1, width)[place] - means[inverse]
        if not static:
            children = self._chosen(boards, dice, engine)
        return children, luck

    def _chosen(self, boards: Boards, dice: NDArray[np.int8], engine: Engine) -> Boards:
        rows = np.concatenate([boards.reshape(len(boards), -1), low_first(dice)], axis=1)
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        turns = enumerate_turns(boards[first], dice[first])
        result = self.search.values(turns, engine)
        best, _ = keep_best(np.where(result.full, result.values, -np.inf), turns.offsets, 1)
        return turns.children[best][inverse.reshape(-1)]


def _view(boards: Boards, engine: Engine, width: int) -> NDArray[np.float64]:
    """``float64[K, width]``: chances (or value) of the side on roll, exact where the game is over; boards once each."""
    first, inverse = unique_boards(boards)
    if width == 6:
        return np.asarray(engine.probs6(boards[first]), np.float64)[inverse]
    return np.asarray(engine.value(boards[first]), np.float64)[inverse, None]


def _mover(view: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers from the other side."""
    return flip(view) if view.shape[1] == 6 else -view


def _seen(view: NDArray[np.float64], mine: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Numbers of the side on roll as the original side sees them; ``mine``: it is the one on roll."""
    return np.where(mine[:, None], view, _mover(view))


def _errors(sums: NDArray[np.float64], squares: NDArray[np.float64], trials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Standard errors of the means from the spread of the trials (stratification makes the truth a little smaller)."""
    n = trials[:, None]
    variance = np.maximum(squares / n - (sums / n) ** 2, 0.0) * n / np.maximum(n - 1, 1)
    return np.sqrt(variance / n)


def run_rollouts(
    executor: Executor, positions: list[str], engine: Mapping[str, Any], rollout: Mapping[str, Any], folder: Path
) -> RolloutResult:
    """Roll out Position IDs, each a shard kept in ``folder``: an interrupted run continues, and worker processes share the work.

    ``engine`` and ``rollout`` are config nodes. Raises RaccoonError for a bad id, or when ``folder`` holds another job.
    """
    for text in positions:
        unfinished(from_position_id(text)[None])
    job = {"positions": list(positions), "engine": dict(engine), "rollout": dict(rollout)}
    parts = run_shards(executor, rollout_shard, job, len(positions), Path(folder), Work("rollouts", "positions", [1] * len(positions)))
    return RolloutResult(*(np.concatenate([part[key] for part in parts]) for key in RolloutResult.__dataclass_fields__))


def rollout_shard(job: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Shard ``index``: the rollout of one position."""
    from raccoon.config.instantiate import shared

    board = from_position_id(job["positions"][index])
    result: RolloutResult = shared(job["rollout"], "rollout", Search).roll(board[None], shared(job["engine"], "engine", Engine))
    return vars(result)
